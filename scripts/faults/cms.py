"""A CMS that responds like Strapi, or fails in a given way; in a thread of its own."""

import asyncio
import json
import threading
import time
import urllib.parse
from typing import Any, Literal

Mode = Literal["healthy", "down", "slow", "drip", "unavailable", "flapping"]
# Between the bytes of a dripping answer, and between the states of a flapping CMS.
DRIP_SECONDS, FLAP_SECONDS = 0.5, 2
PATH = "/api/cms/articles"


class Cms:
    """This number of articles in one locale, `d0000` and on.

    Modes: `down` does not listen, `slow` never answers, `drip` sends one byte in half a second,
    `unavailable` answers 503, `flapping` is two seconds healthy and two seconds down.
    """

    def __init__(self, documents: int = 50) -> None:
        self.slugs = {f"d{n:04}": f"slug-{n}" for n in range(documents)}
        self.mode: Mode = "healthy"
        # When each request came, and its target.
        self.requests: list[tuple[float, str]] = []
        self.port = 0
        self.server: asyncio.Server | None = None
        self.writers: set[asyncio.StreamWriter] = set()
        self.loop, self.ready = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()
        self.ready.wait()

    def serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.listen())
        self.ready.set()
        self.loop.run_forever()

    async def listen(self) -> None:
        self.server = await asyncio.start_server(
            self.connection, "127.0.0.1", self.port, reuse_address=True
        )
        self.port = self.server.sockets[0].getsockname()[1]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def become(self, mode: Mode) -> None:
        asyncio.run_coroutine_threadsafe(self.change(mode), self.loop).result()

    async def change(self, mode: Mode) -> None:
        self.mode = mode
        if mode == "flapping":
            self.flapping = self.loop.create_task(self.flap())
        else:
            await self.listening(mode != "down")

    async def listening(self, on: bool) -> None:
        if on and self.server is None:
            await self.listen()
        elif not on and self.server is not None:
            self.server.close()
            self.server = None
        if not on:
            for writer in self.writers:
                writer.transport.abort()

    async def flap(self) -> None:
        on = True
        while self.mode == "flapping":
            on = not on
            await self.listening(on)
            await asyncio.sleep(FLAP_SECONDS)

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                target = head.decode("latin-1").split(" ")[1]
                self.requests.append((time.monotonic(), target))
                await self.answer(writer, target)
        except (OSError, EOFError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    async def answer(self, writer: asyncio.StreamWriter, target: str) -> None:
        if self.mode == "slow":
            await asyncio.sleep(3600)
        status, data = (503, {"data": None}) if self.mode == "unavailable" else self.page(target)
        body = json.dumps(data).encode()
        head = (
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        text = head.encode() + body
        step = 1 if self.mode == "drip" else len(text)
        for at in range(0, len(text), step):
            writer.write(text[at : at + step])
            await writer.drain()
            if step == 1:
                await asyncio.sleep(DRIP_SECONDS)

    def page(self, target: str) -> tuple[int, dict[str, Any]]:
        path, _, text = target.partition("?")
        query = dict(urllib.parse.parse_qsl(text))
        if path == PATH:
            size = int(query["pagination[pageSize]"])
            after = query.get("filters[documentId][$gt]", "")
            rows = [self.row(key) for key in sorted(self.slugs) if key > after]
            paging = {"page": 1, "pageSize": size, "pageCount": 1, "total": len(rows)}
            return 200, {"data": rows[:size], "meta": {"pagination": paging}}
        key = path.removeprefix(f"{PATH}/")
        if key in self.slugs:
            return 200, {"data": self.row(key), "meta": {}}
        error = {"status": 404, "name": "NotFoundError", "message": "Not Found", "details": {}}
        return 404, {"data": None, "error": error}

    def row(self, key: str) -> dict[str, object]:
        return {"id": 1, "documentId": key, "locale": "en", "slug": self.slugs[key]}

    def requests_since(self, moment: float) -> int:
        return sum(when >= moment for when, _ in self.requests)
