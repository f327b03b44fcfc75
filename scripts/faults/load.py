"""A steady client that checks each response, and quantiles of what it measured."""

import asyncio
import time
from collections.abc import Callable, Sequence

Judge = Callable[[str, int, dict[str, str], bytes], str | None]


class Connection:
    """One HTTP/1.1 connection, kept as long as the server keeps it."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.host, self.port = host.strip("[]"), int(port)
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, target: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers in lower case and body; an OSError or EOFError without a whole answer."""
        return await self.send("GET", target, b"", **headers)

    async def send(
        self, method: str, target: str, content: bytes = b"", **more: str
    ) -> tuple[int, dict[str, str], bytes]:
        """As `get`; `more` are headers."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self.streams
        try:
            lines = [f"{method} {target} HTTP/1.1", "Host: localhost"]
            lines += [f"{name}: {value}" for name, value in more.items()]
            lines += [f"Content-Length: {len(content)}"] if content else []
            writer.write("\r\n".join([*lines, "", ""]).encode() + content)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            status = int(head[0].split()[1])
            pairs = (line.lower().split(": ", 1) for line in head[1:] if line)
            headers = dict(pairs)
            if "content-length" in headers:
                body = await reader.readexactly(int(headers["content-length"]))
            else:
                body = await chunks(reader)
        except BaseException:
            self.close()
            raise
        if headers.get("connection") == "close":
            self.close()
        return status, headers, body

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


async def chunks(reader: asyncio.StreamReader) -> bytes:
    """A chunked body without trailers."""
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return body


class Steady:
    """`rate` requests a second over `connections` connections, until `ended` is set.

    `judge` gets the target, status, headers and body of each answer, and returns what is wrong with
    them, or None.
    """

    def __init__(
        self,
        address: str,
        targets: Sequence[str],
        judge: Judge,
        rate: int = 500,
        connections: int = 16,
    ) -> None:
        self.address, self.targets, self.judge = address, targets, judge
        self.rate, self.connections = rate, connections
        self.latencies: list[float] = []
        self.failures: list[tuple[str, str]] = []
        self.ended = False

    async def run(self) -> None:
        await asyncio.gather(*(self.one(n) for n in range(self.connections)))

    async def one(self, n: int) -> None:
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

    def p99(self) -> float:
        """In ms."""
        return quantile(self.latencies, 99) * 1e3


def quantile(values: Sequence[float], percent: int) -> float:
    """0 where there are no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else 0.0
