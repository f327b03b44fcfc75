"""A process that the command starts and that prints its address as its first line."""

import os
import pathlib
import re
import subprocess
from collections.abc import Mapping
from types import TracebackType
from typing import IO, Self

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Process:
    """Killed at the end of its `with` block if it still runs.

    `environment` is added to the variables of this process.
    """

    def __init__(self, *command: object, environment: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | dict(environment or {}),
        )
        self.address = self.line()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()

    def line(self) -> str:
        return pipe(self.process.stdout).readline().decode().strip()

    def ask(self, line: str = "") -> str:
        """Writes a line to its stdin and reads one from its stdout."""
        stdin = pipe(self.process.stdin)
        stdin.write(line.encode() + b"\n")
        stdin.flush()
        return self.line()

    def memory(self, name: str = "VmRSS") -> int:
        """Bytes: `VmRSS` resident now, `VmHWM` the peak."""
        return memory(self.process.pid, name)

    def reset_peak_memory(self) -> None:
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def cpu_seconds(self) -> float:
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        user, system = stat.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / TICKS_PER_SECOND


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the stream is not a pipe")
    return stream


def memory(pid: int, name: str) -> int:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    if found is None:
        raise SystemExit(f"process {pid} has no {name}")
    return int(found[1]) * 1024
