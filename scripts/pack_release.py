#!/usr/bin/env python3
"""Packs the binaries of a release: for npm, as archives, for Debian and for RPM.

BINARIES has what `build_release.py` writes: TRIPLE/frontend-map. What is packed for the platforms
that are there is written to FOLDER, with its SHA-256 sums in SHA256SUMS and a list of what the
binary is made of, frontend-map.cdx.json (CycloneDX). Two runs with the same binaries write the same
bytes.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

from common.build import ROOT, TARGET
from release import archive, image, licenses, npm
from release.system import Staged, write_deb, write_rpm
from release.targets import BINARY_NAME, TARGETS, Target, commit_seconds, version

LICENSES = "THIRD-PARTY-LICENSES"
# The folder of the sources, as debug information has it.
SOURCES = "/frontend-map"
KINDS = ("npm", "archive", "image", "deb", "rpm", "sbom")


def accompanying_files(folder: pathlib.Path) -> None:
    """Man pages and completions, from the command line's own description; licences of others."""
    command = ["cargo", "run", "--locked", "--quiet", "--example", "command_line"]
    subprocess.run([*command, "--", str(folder)], cwd=ROOT, check=True)
    licenses.write(folder / LICENSES)


def write_sbom(into: pathlib.Path) -> None:
    """Of the features and the platform that are shipped, without what only tests and builds use."""
    with tempfile.TemporaryDirectory() as name:
        # cargo-cyclonedx writes beside each manifest.
        copy = pathlib.Path(name) / "source"
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
        for file in filter(None, files.stdout.decode().split("\0")):
            if file.endswith((".rs", "Cargo.toml", "Cargo.lock")):
                target = copy / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / file, target)
        command = ["cargo", "cyclonedx", "--format", "json", "--quiet", "--no-build-deps"]
        command += ["--target", TARGETS[0].triple, "--override-filename", BINARY_NAME]
        subprocess.run(command, cwd=copy, check=True)
        # The same text wherever it is written.
        text = (copy / f"{BINARY_NAME}.json").read_text().replace(str(copy), SOURCES)
        (into / f"{BINARY_NAME}.cdx.json").write_text(text)


def write_sums(into: pathlib.Path) -> None:
    files = sorted(file.name for file in into.iterdir() if file.name != "SHA256SUMS")
    sums = subprocess.run(["sha256sum", "--", *files], cwd=into, check=True, capture_output=True)
    (into / "SHA256SUMS").write_bytes(sums.stdout)


def pack(present: list[Target], options: argparse.Namespace, work: pathlib.Path) -> None:
    into: pathlib.Path = options.folder.absolute()
    binaries: pathlib.Path = options.binaries.absolute()
    kinds = options.only or KINDS
    linux = [target for target in present if target.is_linux]
    if "npm" in kinds:
        npm.pack_launcher(into, work, version())
        for target in present:
            npm.pack_binary(target, binaries / target.triple / BINARY_NAME, into, work, version())
    if {"archive", "image", "deb", "rpm"} & set(kinds):
        accompanying_files(work / "accompanying")
    for target in present if "archive" in kinds else []:
        archive.write(target, binaries / target.triple, work / "accompanying", into, version())
    if "image" in kinds:
        image.write_context(linux, binaries, work / "accompanying", into, version())
    staged = Staged(work / "staged")
    for target in linux if {"deb", "rpm"} & set(kinds) else []:
        staged.add(target, binaries / target.triple / BINARY_NAME, work / "accompanying")
        if "deb" in kinds:
            write_deb(staged, target, into)
        if "rpm" in kinds:
            write_rpm(staged, target, into)
    if "sbom" in kinds:
        write_sbom(into)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binaries", type=pathlib.Path, default=TARGET / "release-binaries")
    parser.add_argument("--folder", type=pathlib.Path, default=TARGET / "release-packages")
    parser.add_argument("--only", action="append", choices=KINDS, help="by default all")
    parser.add_argument("--all", action="store_true", help="fail if a platform has no binary")
    options = parser.parse_args()
    os.environ["SOURCE_DATE_EPOCH"] = commit_seconds()
    present = [one for one in TARGETS if (options.binaries / one.triple / BINARY_NAME).is_file()]
    missing = [one.triple for one in TARGETS if one not in present]
    if not present or (missing and options.all):
        raise SystemExit(f"{options.binaries} has no binary for {', '.join(missing)}")
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as work:
        pack(present, options, pathlib.Path(work))
    write_sums(options.folder)
    for file in sorted(options.folder.iterdir()):
        print(f"{file.stat().st_size / 1e6:7.2f} MB  {file.name}")
    for triple in missing:
        print(f"SKIPPED: {triple}: there is no binary")


if __name__ == "__main__":
    main()
