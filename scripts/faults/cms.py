"""A CMS that answers like Strapi, or fails in a given way; in a thread of its own."""

import asyncio
import json
import threading
import time
import urllib.parse

MODES = ("healthy", "down", "slow", "drip", "unavailable", "flapping")


class Cms:
    """So many articles in one locale. `mode` may be changed at any time:

    down: nobody listens. slow: no answer ever. drip: an answer, one byte in half a second.
    unavailable: 503. flapping: two seconds healthy, two seconds down."""

    def __init__(self, documents=50):
        self.slugs = {f"d{n:04}": f"slug-{n}" for n in range(documents)}
        self.mode, self.requests, self.port, self.server = "healthy", [], 0, None
        self.loop, self.ready, self.writers = asyncio.new_event_loop(), threading.Event(), set()
        threading.Thread(target=self.serve, daemon=True).start()
        self.ready.wait()

    def serve(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.listen())
        self.port = self.server.sockets[0].getsockname()[1]
        self.ready.set()
        self.loop.run_forever()

    async def listen(self):
        self.server = await asyncio.start_server(self.connection, "127.0.0.1", self.port, reuse_address=True)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def become(self, mode):
        asyncio.run_coroutine_threadsafe(self.change(mode), self.loop).result()

    async def change(self, mode):
        self.mode = mode
        if mode == "flapping":
            self.loop.create_task(self.flap())
        else:
            await self.listening(mode != "down")

    async def listening(self, on):
        if on and self.server is None:
            await self.listen()
        elif not on and self.server is not None:
            self.server.close()
            self.server = None
        if not on:
            for writer in self.writers:
                writer.transport.abort()

    async def flap(self):
        on = True
        while self.mode == "flapping":
            on = not on
            await self.listening(on)
            await asyncio.sleep(2)

    async def connection(self, reader, writer):
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

    async def answer(self, writer, target):
        if self.mode == "slow":
            await asyncio.sleep(3600)
        status, body = (503, {"data": None}) if self.mode == "unavailable" else self.page(target)
        body = json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        text = head.encode() + body
        step = 1 if self.mode == "drip" else len(text)
        for at in range(0, len(text), step):
            writer.write(text[at:at + step])
            await writer.drain()
            if step == 1:
                await asyncio.sleep(0.5)

    def page(self, target):
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        if path == "/api/cms/articles":
            size = int(query["pagination[pageSize]"])
            after = query.get("filters[documentId][$gt]", "")
            rows = [self.row(key) for key in sorted(self.slugs) if key > after]
            paging = {"page": 1, "pageSize": size, "pageCount": 1, "total": len(rows)}
            return 200, {"data": rows[:size], "meta": {"pagination": paging}}
        row = path.removeprefix("/api/cms/articles/")
        if row in self.slugs:
            return 200, {"data": self.row(row), "meta": {}}
        error = {"status": 404, "name": "NotFoundError", "message": "Not Found", "details": {}}
        return 404, {"data": None, "error": error}

    def row(self, key):
        return {"id": 1, "documentId": key, "locale": "en", "slug": self.slugs[key]}

    def asked_since(self, moment):
        return sum(when >= moment for when, _ in self.requests)
