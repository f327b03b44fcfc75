"""A small balancer in front of two instances that never repeats a request."""

import asyncio
import contextlib

from faults.load import Connection

CHECK_SECONDS = 0.2


class Proxy:
    """Sends each request to the next instance that answers `/readyz` with 200."""

    def __init__(self, backends: list[str]) -> None:
        self.backends, self.turn = backends, 0
        self.ready = dict.fromkeys(backends, False)
        self.idle: dict[str, list[Connection]] = {backend: [] for backend in backends}

    async def start(self) -> str:
        """Its address."""
        self.server = await asyncio.start_server(self.client, "127.0.0.1", 0)
        self.health = asyncio.create_task(self.watch())
        host, port = self.server.sockets[0].getsockname()
        return f"{host}:{port}"

    async def watch(self) -> None:
        while True:
            for backend in self.backends:
                was, self.ready[backend] = self.ready[backend], await is_ready(backend)
                if was and not self.ready[backend]:
                    self.drop_idle(backend)
            await asyncio.sleep(CHECK_SECONDS)

    def drop_idle(self, backend: str) -> None:
        for connection in self.idle[backend]:
            connection.close()
        self.idle[backend].clear()

    def next(self) -> str:
        ready = [backend for backend in self.backends if self.ready[backend]] or self.backends
        self.turn += 1
        return ready[self.turn % len(ready)]

    async def client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                writer.write(await self.forward(head.decode("latin-1").split(" ")[1]))
        writer.close()

    async def forward(self, target: str) -> bytes:
        backend = self.next()
        idle = self.idle[backend]
        connection = idle.pop() if idle else Connection(backend)
        try:
            status, _, body = await connection.get(target)
        except (OSError, EOFError) as error:
            status, body = 502, repr(error).encode()
        if connection.streams is not None:
            idle.append(connection)
        return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def is_ready(backend: str) -> bool:
    connection = Connection(backend)
    try:
        return (await connection.get("/readyz"))[0] == 200
    except (OSError, EOFError):
        return False
    finally:
        connection.close()
