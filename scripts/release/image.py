"""The context of the image: the binaries for Linux by the processor's name, and what it has beside
them. A container engine adds it to a base image; nothing is built.
"""

import pathlib

from common.build import ROOT
from release.archive import write_tar
from release.targets import BINARY_NAME, Target

LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")


def write_context(
    targets: list[Target],
    binaries: pathlib.Path,
    accompanying: pathlib.Path,
    into: pathlib.Path,
    version: str,
) -> None:
    # Docker calls processors by the names of Debian.
    files = {
        f"{target.deb}/{BINARY_NAME}": binaries / target.triple / BINARY_NAME for target in targets
    }
    files |= {name: ROOT / name for name in LICENSES}
    files["THIRD-PARTY-LICENSES"] = accompanying / "THIRD-PARTY-LICENSES"
    files["Dockerfile"] = ROOT / "packaging/image/Dockerfile"
    write_tar(into / f"{BINARY_NAME}-{version}-image.tar.gz", files, folders=["data"])
