"""Packages of the system: `.deb` and `.rpm`, as `Cargo.toml` describes them."""

import email.utils
import os
import pathlib
import shutil
import subprocess
import tomllib

from common.build import PROFILE, ROOT
from release.archive import compressed
from release.targets import BINARY_NAME, Target, version


class Staged:
    """A target folder of cargo in which the tools find the files that `Cargo.toml` names."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def add(self, target: Target, binary: pathlib.Path, accompanying: pathlib.Path) -> None:
        folder = self.folder / target.triple / PROFILE
        (folder / "man").mkdir(parents=True)
        shutil.copyfile(binary, folder / BINARY_NAME)
        (folder / BINARY_NAME).chmod(0o755)
        for page in sorted((accompanying / "man").iterdir()):
            (folder / "man" / f"{page.name}.gz").write_bytes(compressed(page.read_bytes()))
        shutil.copytree(accompanying / "completions", folder / "completions")
        shutil.copy(accompanying / "THIRD-PARTY-LICENSES", folder)
        changelog = compressed(debian_changelog().encode())
        (folder / "changelog.Debian.gz").write_bytes(changelog)


def debian_changelog() -> str:
    """One entry, which names the page that has them all."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    maintainer = manifest["package"]["metadata"]["deb"]["maintainer"]
    day = email.utils.formatdate(int(os.environ["SOURCE_DATE_EPOCH"]))
    return (
        f"{BINARY_NAME} ({version()}-1) stable; urgency=medium\n\n"
        f"  * Version {version()}. CHANGELOG.md of the repository says what changed.\n\n"
        f" -- {maintainer}  {day}\n"
    )


def write_deb(staged: Staged, target: Target, into: pathlib.Path) -> None:
    command = ["cargo", "deb", "--no-build", "--no-strip", "--quiet", "--locked"]
    command += ["--profile", PROFILE, "--target", target.triple, "--output", str(into)]
    environment = os.environ | {"CARGO_TARGET_DIR": str(staged.folder)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def write_rpm(staged: Staged, target: Target, into: pathlib.Path) -> None:
    command = ["cargo", "generate-rpm", "--profile", PROFILE, "--target", target.triple]
    command += ["--target-dir", str(staged.folder), "--output", str(into)]
    subprocess.run(command, cwd=ROOT, check=True)
