"""Where the repository and its release build are, and how the build is made."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "release"
BINARY = RELEASE / "frontend-map"


def example(name: str) -> pathlib.Path:
    return RELEASE / "examples" / name


def build(*examples: str) -> None:
    """Builds the binary and these examples in release."""
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run([*command, "--bin", "frontend-map"], cwd=ROOT, check=True)
    for name in examples:
        subprocess.run([*command, "--example", name], cwd=ROOT, check=True)
