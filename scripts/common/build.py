"""Where the repository and the shipped binary are, and how the binary is built."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
PROFILE = "dist"
BINARY = TARGET / PROFILE / "frontend-map"


def bench_server(name: str) -> pathlib.Path:
    """One of `benches/servers`."""
    return TARGET / PROFILE / name


def build(*bench_servers: str) -> None:
    """Builds the binary as it is shipped, with these servers."""
    command = ["cargo", "build", "--profile", PROFILE, "--locked", "--quiet"]
    command += ["--package", "frontend-map", "--bin", "frontend-map"]
    if bench_servers:
        command += ["--package", "frontend-map-bench-servers"]
    for name in bench_servers:
        command += ["--bin", name]
    subprocess.run(command, cwd=ROOT, check=True)
