"""The licences of what the binary is made of: each text once, with the packages that it is for."""

import json
import pathlib
import re
import subprocess
from collections import defaultdict
from typing import Any

from common.build import ROOT
from release.targets import BINARY_NAME, TARGETS

TEXTS = re.compile(r"(licen[cs]e|copying|notice|unlicense)([-._].*)?", re.IGNORECASE)
HEAD = """\
The binary of frontend-map is made of the packages below, of the standard library of Rust (MIT or
Apache-2.0, The Rust Project Contributors) and, on Linux, of musl (MIT, Rich Felker and others).
"""


def write(into: pathlib.Path) -> None:
    packages: dict[str, list[str]] = defaultdict(list)
    for package in shipped():
        name = f"{package['name']} {package['version']} ({package['license']})"
        folder = pathlib.Path(package["manifest_path"]).parent
        # mimalloc's C source has a licence of its own.
        candidates = [*folder.iterdir(), *folder.glob("c_src/mimalloc/v3/*")]
        files = sorted(file for file in candidates if TEXTS.fullmatch(file.name))
        texts = [file.read_text(errors="replace").strip() for file in files if file.is_file()]
        for text in texts or ["The package has no file with its licence."]:
            packages[text].append(name)
    sections = sorted((sorted(names), text) for text, names in packages.items())
    line = "-" * 80
    parts = ["\n".join([line, *names, line, "", text, ""]) for names, text in sections]
    into.write_text("\n".join([HEAD, *parts]))


def shipped() -> list[dict[str, Any]]:
    """The packages of others in the binary: neither those of tests nor those of builds."""
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    command += ["--filter-platform", TARGETS[0].triple]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    metadata = json.loads(found)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    queue = [one for one in packages if packages[one]["name"] == BINARY_NAME]
    reached = set(queue)
    while queue:
        for dependency in nodes[queue.pop()]["deps"]:
            is_normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_normal and dependency["pkg"] not in reached:
                reached.add(dependency["pkg"])
                queue.append(dependency["pkg"])
    return [packages[one] for one in sorted(reached) if packages[one]["source"]]
