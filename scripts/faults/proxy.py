"""A small balancer in front of two instances, as strict as one can be: it never repeats a request."""

import asyncio
import contextlib

from faults.load import Connection


class Proxy:
    """Sends each request to the next instance that says that it is ready; connections are kept."""

    def __init__(self, backends):
        self.backends, self.ready, self.turn = backends, dict.fromkeys(backends, False), 0
        self.idle = {backend: [] for backend in backends}

    async def start(self):
        self.server = await asyncio.start_server(self.client, "127.0.0.1", 0)
        self.health = asyncio.create_task(self.watch())
        host, port = self.server.sockets[0].getsockname()
        return f"{host}:{port}"

    async def watch(self):
        while True:
            for backend in self.backends:
                was, self.ready[backend] = self.ready[backend], await self.is_ready(backend)
                if was and not self.ready[backend]:
                    self.drop_idle(backend)
            await asyncio.sleep(0.2)

    async def is_ready(self, backend):
        connection = Connection(backend)
        try:
            return (await connection.get("/readyz"))[0] == 200
        except (OSError, EOFError):
            return False
        finally:
            connection.close()

    def drop_idle(self, backend):
        for connection in self.idle[backend]:
            connection.close()
        self.idle[backend].clear()

    def next(self):
        ready = [backend for backend in self.backends if self.ready[backend]] or self.backends
        self.turn += 1
        return ready[self.turn % len(ready)]

    async def client(self, reader, writer):
        with contextlib.suppress(OSError, EOFError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                writer.write(await self.forward(head.decode("latin-1").split(" ")[1]))
        writer.close()

    async def forward(self, target):
        backend = self.next()
        kept = self.idle[backend]
        connection = kept.pop() if kept else Connection(backend)
        try:
            status, _, body = await connection.get(target)
        except (OSError, EOFError) as error:
            status, body = 502, repr(error).encode()
        if connection.writer is not None:
            kept.append(connection)
        return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
