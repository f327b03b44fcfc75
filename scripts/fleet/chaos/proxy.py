"""A proxy between one instance and Redis, in a thread of its own: it delays, cuts, withholds
and repeats bytes."""

import asyncio
import random
import threading
import time
from dataclasses import dataclass

CHUNK = 64 << 10
# Chunks that are late; no more are read.
MOST_ON_THE_WAY = 64
# Chunks, each behind the time at which it is due; an empty one is the end.
OnTheWay = asyncio.Queue[tuple[float, bytes]]


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
        tasks, ends = [], []
        for source, target in ((reader, out_writer), (out_reader, writer)):
            on_the_way: OnTheWay = asyncio.Queue(MOST_ON_THE_WAY)
            tasks.append(asyncio.ensure_future(self.receive(source, on_the_way)))
            ends.append(asyncio.ensure_future(self.send(on_the_way, target)))
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        tasks += ends
        for task in tasks:
            task.cancel()
        self.writers.difference_update(both)
        for one in both:
            one.transport.abort()

    async def receive(self, reader: asyncio.StreamReader, on_the_way: OnTheWay) -> None:
        """A delay is latency: what follows is read meanwhile."""
        data = b"-"
        while data:
            try:
                data = await reader.read(CHUNK)
            except OSError:
                data = b""
            delay = self.random.uniform(0, 2) * self.faults.delay
            await on_the_way.put((time.monotonic() + delay, data))

    async def send(self, on_the_way: OnTheWay, writer: asyncio.StreamWriter) -> None:
        """Until the end of what is read, or until it is cut."""
        try:
            while True:
                due, data = await on_the_way.get()
                await asyncio.sleep(max(due - time.monotonic(), 0))
                while self.faults.silent:
                    await asyncio.sleep(0.05)
                if not data:
                    return
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
