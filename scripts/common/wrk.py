"""Load by `wrk` (Debian: wrk), which shares the machine's cores with the server."""

import pathlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from common.process import Process

MILLISECONDS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


@dataclass(frozen=True)
class Load:
    """What a run of wrk found. `p50` and `p99` are latencies in ms."""

    rate: float
    requests: int
    p50: float
    p99: float
    not_2xx: int
    socket_errors: int

    def must_be_clean(self) -> "Load":
        """A fast wrong answer is no figure."""
        if self.not_2xx or self.socket_errors:
            raise SystemExit(f"{self.not_2xx} answers not 2xx, {self.socket_errors} socket errors")
        return self


class Run:
    """A wrk that runs until `finish`."""

    def __init__(
        self,
        address: str,
        target: str = "/",
        *,
        seconds: int = 5,
        connections: int = 8,
        script: pathlib.Path | None = None,
        headers: Sequence[str] = (),
    ) -> None:
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout=60s"]
        command += ["-s", str(script)] if script else []
        command += [part for header in headers for part in ("-H", header)]
        self.process = Process(*command, f"http://{address}{target}", log=None)

    def finish(self) -> Load:
        out = self.process.output()
        if status := self.process.wait():
            raise SystemExit(f"wrk ended with {status}: {out}")
        errors = re.search(
            r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out
        )
        other = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
        return Load(
            rate=float(found(r"Requests/sec:\s+([\d.]+)", out)[1]),
            requests=int(found(r"(\d+) requests in", out)[1]),
            p50=latency(50, out),
            p99=latency(99, out),
            not_2xx=int(other[1]) if other else 0,
            socket_errors=sum(map(int, errors.groups())) if errors else 0,
        )


def wrk(
    address: str,
    target: str = "/",
    *,
    seconds: int = 5,
    connections: int = 8,
    script: pathlib.Path | None = None,
) -> Load:
    run = Run(address, target, seconds=seconds, connections=connections, script=script)
    return run.finish()


def latency(percent: int, out: str) -> float:
    number, unit = found(rf"\s{percent}%\s+([\d.]+)(us|ms|s|m)\s", out).groups()
    return float(number) * MILLISECONDS[unit]


def found(pattern: str, text: str) -> re.Match[str]:
    match = re.search(pattern, text)
    if match is None:
        raise SystemExit(f"wrk did not print {pattern}: {text}")
    return match
