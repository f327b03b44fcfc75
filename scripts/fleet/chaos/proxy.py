"""A proxy between one instance and Redis, in a thread of its own: it delays, cuts, withholds
and repeats bytes."""

import asyncio
import random
import threading
from dataclasses import dataclass

CHUNK = 64 << 10


@dataclass
class Faults:
    """What happens to bytes now. Seconds and probabilities."""

    refuse: bool = False
    silent: bool = False
    delay: float = 0.0
    # For each chunk that passes.
    cut: float = 0.0
    repeat: float = 0.0


class Loop:
    """The thread of all proxies."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()


class Proxy:
    def __init__(self, thread: Loop, redis_port: int, seed: int) -> None:
        self.loop, self.redis_port = thread.loop, redis_port
        self.random = random.Random(seed)
        self.faults = Faults()
        self.writers: set[asyncio.StreamWriter] = set()
        self.repeated = self.cuts = 0
        self.port = asyncio.run_coroutine_threadsafe(self.listen(), self.loop).result()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def listen(self) -> int:
        self.server = await asyncio.start_server(self.client, "127.0.0.1", 0)
        port: int = self.server.sockets[0].getsockname()[1]
        return port

    def become(self, faults: Faults, *, cut: bool = False) -> None:
        """From now on; `cut` also ends the connections there are."""
        self.loop.call_soon_threadsafe(self.change, faults, cut)

    def change(self, faults: Faults, cut: bool) -> None:
        self.faults = faults
        if cut:
            for writer in self.writers:
                writer.transport.abort()

    async def client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.faults.refuse:
            writer.transport.abort()
            return
        try:
            out_reader, out_writer = await asyncio.open_connection("127.0.0.1", self.redis_port)
        except OSError:
            writer.transport.abort()
            return
        both = (writer, out_writer)
        self.writers.update(both)
        ways = [self.pass_on(reader, out_writer), self.pass_on(out_reader, writer)]
        tasks = [asyncio.ensure_future(way) for way in ways]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        self.writers.difference_update(both)
        for one in both:
            one.transport.abort()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(CHUNK):
                while self.faults.silent:
                    await asyncio.sleep(0.05)
                if self.faults.delay:
                    await asyncio.sleep(self.random.uniform(0, 2) * self.faults.delay)
                if self.random.random() < self.faults.cut:
                    self.cuts += 1
                    writer.write(data[: self.random.randrange(len(data))])
                    await asyncio.wait_for(writer.drain(), 1)
                    return
                writer.write(data)
                if self.random.random() < self.faults.repeat:
                    self.repeated += 1
                    begin = self.random.randrange(len(data))
                    writer.write(data[begin : begin + self.random.randint(1, 200)])
                await writer.drain()
        except (OSError, TimeoutError):
            return
