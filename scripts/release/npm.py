"""The packages for npm: the launcher, and one with the binary for each platform."""

import gzip
import json
import pathlib
import shutil
import subprocess

from common.build import ROOT
from release.archive import compressed
from release.targets import BINARY_NAME, Target

LAUNCHER = ROOT / "packaging/npm"
LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")


def pack(folder: pathlib.Path, into: pathlib.Path) -> None:
    for name in LICENSES:
        shutil.copyfile(ROOT / name, folder / name)
    command = ["npm", "pack", "--silent", "--pack-destination", str(into)]
    named = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    package = into / named.stdout.strip()
    package.write_bytes(compressed(gzip.decompress(package.read_bytes())))


def pack_launcher(into: pathlib.Path, work: pathlib.Path, version: str) -> None:
    folder = work / "npm" / BINARY_NAME
    shutil.copytree(LAUNCHER, folder)
    package = json.loads((folder / "package.json").read_text())
    package["version"] = version
    binaries = package["optionalDependencies"]
    package["optionalDependencies"] = dict.fromkeys(binaries, version)
    write_package(folder, package)
    pack(folder, into)


def pack_binary(
    target: Target, binary: pathlib.Path, into: pathlib.Path, work: pathlib.Path, version: str
) -> None:
    folder = work / "npm" / target.npm
    folder.mkdir(parents=True)
    shutil.copyfile(binary, folder / BINARY_NAME)
    (folder / BINARY_NAME).chmod(0o755)
    launcher = json.loads((LAUNCHER / "package.json").read_text())
    system, processor = target.npm.split("-")
    text = f"The binary of {BINARY_NAME} for {system} {processor}"
    write_package(
        folder,
        {
            "name": target.npm_package,
            "version": version,
            "description": text,
            "license": launcher["license"],
            "files": [BINARY_NAME, *LICENSES],
            # No `libc`: the binary for Linux is static.
            "os": [system],
            "cpu": [processor],
            # Yarn would keep it in an archive, from which it cannot be started.
            "preferUnplugged": True,
        },
    )
    (folder / "README.md").write_text(
        f"# {target.npm_package}\n\n{text}. It is installed by the package `{BINARY_NAME}`.\n"
    )
    pack(folder, into)


def write_package(folder: pathlib.Path, package: dict[str, object]) -> None:
    (folder / "package.json").write_text(json.dumps(package, indent=2) + "\n")
