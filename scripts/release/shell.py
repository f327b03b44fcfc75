"""Steps, conditions and commands of the checks of a release."""

import os
import pathlib
import subprocess


def step(text: str) -> None:
    print(f"- {text}", flush=True)


def must(holds: object, text: str) -> None:
    if not holds:
        raise SystemExit(f"check_release: {text}")


def run(
    *command: object, folder: pathlib.Path | None = None, status: int = 0, **variables: str
) -> str:
    """What a command prints; it must end with this status."""
    ended = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    words = " ".join(str(part) for part in command)
    must(ended.returncode == status, f"{words}: status {ended.returncode}\n{ended.stdout}")
    return ended.stdout
