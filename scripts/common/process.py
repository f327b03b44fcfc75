"""The one place that starts processes in the background: peers, the service, Redis, load."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import IO, NoReturn, Self

from common.client import until

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
NOWHERE = pathlib.Path(os.devnull)
# Nothing waits this long unless it has failed.
HANG_SECONDS = 120


def environment(more: Mapping[str, object] | None = None) -> dict[str, str]:
    """The variables of this process without those of the service, and these."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("FRONT")}
    return own | {name: str(value) for name, value in (more or {}).items()}


class Process:
    """A process, killed at the end of its `with` block if it still runs.

    `variables` are added to its environment. Its stderr is appended to the file `log`; None: it is
    that of this process. Its stdout is read by `line` and `output`, or appended to a file.
    """

    def __init__(
        self,
        *command: object,
        variables: Mapping[str, object] | None = None,
        folder: pathlib.Path | None = None,
        log: pathlib.Path | None = NOWHERE,
        stdout: pathlib.Path | None = None,
    ) -> None:
        self.name, self.log_file = pathlib.Path(str(command[0])).name, log
        self.begun = time.monotonic()
        out, errors = opened(stdout), opened(log)
        try:
            self.popen = subprocess.Popen(
                [str(part) for part in command],
                cwd=folder,
                env=environment(variables),
                stdin=subprocess.PIPE,
                stdout=out or subprocess.PIPE,
                stderr=errors,
            )
        finally:
            for file in (out, errors):
                if file is not None:
                    file.close()
        self.pid = self.popen.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.kill()

    def line(self) -> str:
        """A line of its stdout. This program ends where the process ends without one."""
        line = self.line_or_end()
        return self.failed("ended") if line is None else line

    def line_or_end(self) -> str | None:
        """A line of its stdout; None: it has ended."""
        line = pipe(self.popen.stdout).readline()
        return line.decode().strip() if line else None

    def ask(self, line: str = "") -> str:
        """Writes a line to its stdin and reads one from its stdout."""
        stdin = pipe(self.popen.stdin)
        stdin.write(line.encode() + b"\n")
        stdin.flush()
        return self.line()

    def output(self) -> str:
        """What it prints until it ends."""
        return self.popen.communicate()[0].decode()

    def wait_until(self, condition: Callable[[], object], patience: float = 60) -> float:
        """Seconds until the condition holds. This program ends where the process ends before."""
        begun = time.monotonic()
        if until(lambda: self.has_ended() or condition(), patience) is None:
            self.failed("is not ready")
        if self.has_ended():
            self.failed("ended")
        return time.monotonic() - begun

    def failed(self, how: str) -> NoReturn:
        # One that has closed its stdout has a status of its own in a moment.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(1)
        self.kill()
        status = self.popen.returncode
        raise SystemExit(f"{self.name} {how}: status {status}\n{self.log()[-4000:]}".strip())

    def has_ended(self) -> bool:
        return self.popen.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def wait(self, patience: float = HANG_SECONDS) -> int:
        """The exit status; this program fails where the process does not end."""
        return self.popen.wait(patience)

    def stop(self, patience: float = HANG_SECONDS) -> int:
        """The exit status after SIGTERM. It is that of SIGKILL where it would not end by itself."""
        self.signal(signal.SIGTERM)
        try:
            return self.wait(patience)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
        finally:
            self.kill()

    def kill(self) -> None:
        """Kills it where it still runs."""
        self.popen.kill()
        self.popen.wait()
        for stream in (self.popen.stdin, self.popen.stdout):
            if stream is not None:
                stream.close()

    def log(self) -> str:
        if self.log_file is None or not self.log_file.is_file():
            return ""
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def memory(self, name: str = "VmRSS") -> int:
        """Bytes: `VmRSS` resident now, `VmHWM` the peak."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(rf"{name}:\s+(\d+) kB", status)
        if found is None:
            raise SystemExit(f"process {self.pid} has no {name}")
        return int(found[1]) * 1024

    def reset_peak_memory(self) -> None:
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def cpu_seconds(self) -> float:
        stat = pathlib.Path(f"/proc/{self.pid}/stat").read_text()
        user, system = stat.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / TICKS_PER_SECOND

    def descriptors(self) -> int:
        return len(list(pathlib.Path(f"/proc/{self.pid}/fd").iterdir()))


class Server(Process):
    """A process that prints its address as its first line: the service or one of `benches/servers`.

    The address is empty where its stdout is a file.
    """

    def __init__(
        self,
        *command: object,
        variables: Mapping[str, object] | None = None,
        log: pathlib.Path | None = NOWHERE,
        stdout: pathlib.Path | None = None,
    ) -> None:
        super().__init__(*command, variables=variables, log=log, stdout=stdout)
        self.address = self.line() if stdout is None else ""


def opened(file: pathlib.Path | None) -> IO[bytes] | None:
    return None if file is None else file.open("ab")


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the stream is not a pipe")
    return stream
