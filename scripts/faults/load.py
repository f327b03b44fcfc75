"""Load: `wrk` for as much as there is, and a steady client that looks at every answer."""

import asyncio
import re
import subprocess
import time


def wrk(address, target="/", seconds=5, connections=8, script=None, threads=1, errors=False):
    """A run of wrk: requests per second, latencies in ms, what was not 2xx, socket errors."""
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "20s"]
    command += ["-s", str(script)] if script else []
    ended = subprocess.run([*command, f"http://{address}{target}"], capture_output=True, text=True)
    out = ended.stdout
    if ended.returncode:
        raise SystemExit(f"wrk ended with {ended.returncode}: {out}{ended.stderr}")
    if "Socket errors" in out and not errors:
        raise SystemExit(out)
    latency = {}
    for percent in ("50", "99"):
        number, unit = re.search(rf"{percent}%\s+([\d.]+)(us|ms|s|m)", out).groups()
        latency[percent] = float(number) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[unit]
    other = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    socket = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    return {
        "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]),
        "requests": int(re.search(r"(\d+) requests in", out)[1]),
        "p50": latency["50"],
        "p99": latency["99"],
        "other": int(other[1]) if other else 0,
        "socket": sum(map(int, socket.groups())) if socket else 0,
    }


class Connection:
    """One HTTP/1.1 connection, kept as long as the server keeps it."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.at = host.strip("[]"), int(port)
        self.reader = self.writer = None

    async def get(self, target):
        """(status, headers in lower case, body); an OSError or EOFError when there is no whole answer."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(*self.at)
        try:
            self.writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            status = int(head[0].split()[1])
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            if "content-length" in headers:
                body = await self.reader.readexactly(int(headers["content-length"]))
            else:
                body = await self.chunks()
        except BaseException:
            self.close()
            raise
        if headers.get("connection") == "close":
            self.close()
        return status, headers, body

    async def chunks(self):
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return body

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


class Steady:
    """So many requests a second over so many connections, until told to end.

    `judge` is given each request's target, status, headers and body, and returns what is wrong with
    them, or None."""

    def __init__(self, address, targets, judge, rate=500, connections=16):
        self.address, self.targets, self.judge = address, targets, judge
        self.rate, self.connections = rate, connections
        self.latencies, self.failures, self.ended = [], [], False

    async def run(self):
        await asyncio.gather(*(self.one(n) for n in range(self.connections)))

    async def one(self, n):
        connection = Connection(self.address)
        pause = self.connections / self.rate
        due = time.monotonic() + pause * n / self.connections
        at = n
        while not self.ended:
            await asyncio.sleep(max(0, due - time.monotonic()))
            target, begun = self.targets[at % len(self.targets)], time.monotonic()
            try:
                wrong = self.judge(target, *await connection.get(target))
            except (OSError, EOFError, ValueError, IndexError) as error:
                wrong = f"no answer: {error!r}"
            self.latencies.append(time.monotonic() - begun)
            if wrong:
                self.failures.append((target, wrong))
            at, due = at + 1, max(due + pause, time.monotonic() - 1)
        connection.close()

    def percentile(self, percent):
        """In ms."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] * 1e3 if ordered else 0.0


def quantile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]
