"""Where the repository and the shipped binary are, and how the binary is built."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
PROFILE = "dist"
BINARY = TARGET / PROFILE / "frontend-map"


def example(name: str) -> pathlib.Path:
    return TARGET / PROFILE / "examples" / name


def build(*examples: str) -> None:
    """Builds the binary and these examples as they are shipped."""
    command = ["cargo", "build", "--profile", PROFILE, "--locked", "--quiet"]
    subprocess.run([*command, "--bin", "frontend-map"], cwd=ROOT, check=True)
    for name in examples:
        subprocess.run([*command, "--example", name], cwd=ROOT, check=True)
