"""Starts, stops and kills a redis-server on loopback, and reads its counters."""

import pathlib
import re
import shutil
import signal
import socket
import tempfile
from collections import defaultdict
from types import TracebackType
from typing import Any, NamedTuple, Self

from common.client import free_port
from common.process import NOWHERE, Process

# `shared.prefix` in the settings of the service.
PREFIX = "fleet-check"
# A wait of so many seconds is a failure.
HANG_SECONDS = 20
# Commands of this program alone.
OWN = ("info", "scan", "memory", "xrange", "ping", "config", "type")


class RefusedError(Exception):
    """An error that Redis returned."""


class Link:
    """One connection for commands, in RESP2. Values come back as bytes, integers and lists."""

    def __init__(self, port: int, timeout: float = HANG_SECONDS) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.file = self.socket.makefile("rb")

    def send(self, *words: object) -> Any:
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        lines = [b"*%d\r\n" % len(parts)]
        lines += [b"$%d\r\n%b\r\n" % (len(part), part) for part in parts]
        self.socket.sendall(b"".join(lines))
        return self.reply()

    def reply(self) -> Any:
        line = self.file.readline()
        if not line:
            raise ConnectionResetError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RefusedError(rest.decode())
        if kind == b"+":
            return rest
        size = int(rest)
        if kind == b":":
            return size
        if kind == b"*":
            return [self.reply() for _ in range(size)]
        return None if size < 0 else self.file.read(size + 2)[:-2]

    def close(self) -> None:
        self.file.close()
        self.socket.close()


class Usage(NamedTuple):
    """What Redis has done since it started. Bytes are those of its network, `cpu` is in
    seconds."""

    commands: int
    bytes_in: int
    bytes_out: int
    cpu: float
    by_command: dict[str, int]
    # What it takes to read these counts.
    look_in: int = 0
    look_out: int = 0
    look_cpu: float = 0.0

    def since(self, before: "Usage") -> "Usage":
        names = self.by_command
        by = {name: count - before.by_command.get(name, 0) for name, count in names.items()}
        return Usage(
            self.commands - before.commands,
            self.bytes_in - before.bytes_in - before.look_in,
            self.bytes_out - before.bytes_out - before.look_out,
            max(0.0, self.cpu - before.cpu - before.look_cpu),
            {name: count for name, count in by.items() if count},
        )


class Redis:
    """Killed at the end of its `with` block. The port stays the same when it is started again."""

    def __init__(self) -> None:
        if shutil.which("redis-server") is None:
            raise SystemExit("redis-server is missing (Debian: redis-server)")
        self.port = free_port()
        self.folder = tempfile.TemporaryDirectory()
        self.process: Process | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        self.folder.cleanup()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """It is empty, because it stores nothing on a disk."""
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port)]
        command += ["--save", "", "--appendonly", "no", "--daemonize", "no"]
        command += ["--dir", self.folder.name]
        self.process = Process(*command, stdout=NOWHERE)
        self.process.wait_until(lambda: self.send("PING") == b"PONG", HANG_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.signal(number)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process = None

    def pause(self) -> None:
        self.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.signal(signal.SIGCONT)

    def link(self) -> Link:
        return Link(self.port)

    def send(self, *words: object) -> Any:
        """One command over a connection of its own."""
        link = self.link()
        try:
            return link.send(*words)
        finally:
            link.close()

    def info(self, section: str) -> dict[str, str]:
        lines = self.send("INFO", section).decode().splitlines()
        pairs = (line.split(":", 1) for line in lines if ":" in line)
        return dict(pairs)

    def usage(self) -> Usage:
        """Without the commands of this program. What a script calls is counted beside the script:
        the sum is Redis's work."""
        first, second = self.look(), self.look()
        # Between two of these readings there is the end of the one and the begin of the other.
        look_in = 2 * (second.bytes_in - first.bytes_in)
        look_out = 2 * (second.bytes_out - first.bytes_out)
        look_cpu = 2 * (second.cpu - first.cpu)
        return second._replace(look_in=look_in, look_out=look_out, look_cpu=look_cpu)

    def look(self) -> Usage:
        by = {
            name.removeprefix("cmdstat_"): int(found[1])
            for name, text in self.info("commandstats").items()
            if (found := re.match(r"calls=(\d+)", text))
        }
        by = {name: count for name, count in by.items() if name.split("|")[0] not in OWN}
        stats = self.info("stats")
        received, sent = stats["total_net_input_bytes"], stats["total_net_output_bytes"]
        cpu = self.info("cpu")
        seconds = float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])
        return Usage(sum(by.values()), int(received), int(sent), seconds, by)

    def used_memory(self) -> int:
        return int(self.info("memory")["used_memory"])

    def peak_memory(self) -> int:
        return int(self.info("memory")["used_memory_peak"])

    def all_keys(self) -> list[bytes]:
        """All keys of the prefix."""
        link, cursor, found = self.link(), b"0", set[bytes]()
        while True:
            cursor, some = link.send("SCAN", cursor, "MATCH", f"{PREFIX}:*", "COUNT", 1000)
            found.update(some)
            if cursor == b"0":
                link.close()
                return sorted(found)

    def memory_by_kind(self) -> dict[str, tuple[int, int]]:
        """Keys and bytes by the word behind prefix and version: `chunk`, `list`, `deltas`, ..."""
        found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
        link = self.link()
        for key in self.all_keys():
            words = key.decode(errors="replace").split(":")
            kind = words[2] if len(words) > 2 else "?"
            size = link.send("MEMORY", "USAGE", key, "SAMPLES", 0) or 0
            keys, total = found[kind]
            found[kind] = (keys + 1, total + size)
        link.close()
        return dict(found)


def own_folder() -> pathlib.Path:
    """A folder for settings and logs; the caller removes it."""
    return pathlib.Path(tempfile.mkdtemp(prefix="check-fleet-"))
