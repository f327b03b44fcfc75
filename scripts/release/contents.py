"""What can be read from a binary: its dependencies; with debug information, names and lines."""

import json
import pathlib
import shutil
import zlib

from release.shell import must, run, step
from release.targets import BINARY_NAME, Target, version

# A function of ours, and its file.
FUNCTION, FILE = "frontend_map_commands::cli::execute", "/frontend-map/crates/commands/src/cli.rs"


def check_contents(
    target: Target, folder: pathlib.Path, unpacked: pathlib.Path, work: pathlib.Path
) -> None:
    step(f"{target.triple}: dependencies in the binary, and lines in its debug information")
    if shutil.which(target.objcopy) is None:
        print(f"SKIPPED: {target.objcopy} is not installed")
        return
    found = dependencies(target, unpacked / BINARY_NAME, work)
    bom = json.loads((folder / f"{BINARY_NAME}.cdx.json").read_text())
    listed = {(one["name"], one["version"]) for one in bom["components"]}
    must(found <= listed, f"the SBOM lacks {sorted(found - listed)}")
    print(f"  {len(found)} in the binary, {len(listed)} in the SBOM", flush=True)
    name = f"{unpacked.name}.debug.tar.gz"
    run("tar", "xf", folder / name, "-C", unpacked, "--strip-components=1")
    line = line_of(target, unpacked)
    must(FUNCTION in line and FILE in line, f"no line of {FUNCTION}: {line}")
    print(f"  {line}", flush=True)


def dependencies(target: Target, binary: pathlib.Path, work: pathlib.Path) -> set[tuple[str, str]]:
    """What `cargo auditable` has written, without ourselves and what only builds use."""
    section = work / "dep-v0"
    run(target.objcopy, f"--dump-section=.dep-v0={section}", binary, work / "copy")
    packages = json.loads(zlib.decompress(section.read_bytes()))["packages"]
    own = {(one["name"], one["version"]) for one in packages if one["source"] != "local"}
    must((BINARY_NAME, version()) in {(one["name"], one["version"]) for one in packages}, packages)
    build = {(one["name"], one["version"]) for one in packages if one.get("kind") == "build"}
    return own - build


def line_of(target: Target, unpacked: pathlib.Path) -> str:
    """Name, file and line, which `addr2line` finds by the binary's link to the other file."""
    tools = target.objcopy.removesuffix("objcopy")
    symbols = run(f"{tools}nm", "--demangle", unpacked / f"{BINARY_NAME}.debug").splitlines()
    address = next(line.split()[0] for line in symbols if line.endswith(f" {FUNCTION}"))
    command = (f"{tools}addr2line", "--functions", "--demangle", "--pretty-print")
    return run(*command, f"--exe={unpacked / BINARY_NAME}", address).strip()
