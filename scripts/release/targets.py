"""The platforms that are released, and what each kind of package calls them."""

import json
import platform
import subprocess
from dataclasses import dataclass

from common.build import ROOT

BINARY_NAME = "frontend-map"


@dataclass(frozen=True)
class Target:
    """A platform by the names of the compiler, of npm, Debian and RPM; empty: no such package."""

    triple: str
    npm: str
    deb: str = ""
    rpm: str = ""
    # Divides debug information from the binary, and runs it on another processor.
    objcopy: str = "objcopy"
    emulator: str = ""
    # The oldest processor that runs it, as the emulator calls it.
    first_processor: str = ""

    @property
    def npm_package(self) -> str:
        return f"@{BINARY_NAME}/{self.npm}"

    @property
    def is_native(self) -> bool:
        """Whether this machine runs it without an emulator."""
        return self.is_linux and self.triple.startswith(platform.machine())

    @property
    def is_linux(self) -> bool:
        return "-linux-" in self.triple


TARGETS = [
    Target(
        "x86_64-unknown-linux-musl",
        "linux-x64",
        "amd64",
        "x86_64",
        emulator="qemu-x86_64-static",
        first_processor="Opteron_G1",
    ),
    Target(
        "aarch64-unknown-linux-musl",
        "linux-arm64",
        "arm64",
        "aarch64",
        objcopy="aarch64-linux-gnu-objcopy",
        emulator="qemu-aarch64-static",
        first_processor="cortex-a53",
    ),
    Target("x86_64-apple-darwin", "darwin-x64"),
    Target("aarch64-apple-darwin", "darwin-arm64"),
]
BY_TRIPLE = {target.triple: target for target in TARGETS}
LINUX = [target for target in TARGETS if target.is_linux]


def version() -> str:
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version=1"]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    packages = json.loads(found)["packages"]
    return str(next(one["version"] for one in packages if one["name"] == BINARY_NAME))


def commit_seconds() -> str:
    """The time of the commit, which all packages have in place of that of their making."""
    command = ["git", "log", "-1", "--format=%ct"]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return found.stdout.strip()
