"""A CMS that responds like Strapi to walks, rereads and single documents, and counts them; in a
thread of its own, so fast that a million documents are walked in seconds."""

import asyncio
import json
import threading
import urllib.parse
from collections import Counter
from typing import Any

from fleet.content import (
    SECTION_STEP,
    WITH_SECTION,
    Content,
    document_id,
    number_of,
    section_slug,
    slug,
)

STAMP = "2024-03-06T22:19:54.649Z"
SECTION_ID = document_id(0)
# How requests are counted: pages of a walk and its totals, rereads by ids, single documents.
LIST, REREAD, DOCUMENT = "list", "reread", "document"


class Cms:
    def __init__(self, content: Content) -> None:
        self.content = content
        self.counts: Counter[str] = Counter()
        # Seconds before each response.
        self.delay = 0.0
        self.port = 0
        self.loop, ready = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.serve, args=(ready,), daemon=True).start()
        ready.wait()

    def serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            self.loop.create_server(lambda: Conversation(self), "127.0.0.1", 0)
        )
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def respond(self, target: str) -> tuple[int, bytes]:
        path, _, text = target.partition("?")
        query = dict(urllib.parse.parse_qsl(text))
        _, _, name, *rest = path.split("/")
        name = name.removesuffix("s")
        if name not in self.content.kinds:
            return 404, error(404)
        if rest:
            self.counts[DOCUMENT] += 1
            return self.document(name, rest[0], query.get("locale", "en"))
        ids = [value for key, value in query.items() if key.startswith("filters[documentId][$")]
        after = query.get("filters[documentId][$gt]")
        # All documents of a kind with a section read it.
        of_section = [v for k, v in query.items() if k.startswith("filters[section][documentId]")]
        if of_section and SECTION_ID not in of_section:
            return 200, self.page(name, (), -1, 1, set())
        is_reread = len(ids) > (after is not None)
        self.counts[REREAD if is_reread else LIST] += 1
        only = {number_of(one) for one in ids if one != after} if is_reread else None
        first = -1 if after is None else number_of(after)
        size = int(query.get("pagination[pageSize]", "100"))
        locale = query.get("locale", "en")
        locales = self.content.kinds[name].locales if locale == "*" else (locale,)
        return 200, self.page(name, locales, first, size, only)

    def page(
        self, name: str, locales: tuple[str, ...], after: int, size: int, only: set[int] | None
    ) -> bytes:
        rows, total = list[str](), 0
        for locale in locales:
            if locale not in self.content.kinds[name].locales:
                continue
            found, count = self.content.page(name, locale, after, size, only)
            total += count
            rows += [row(name, number, locale, revision) for number, revision in found]
        text = ",".join(rows[:size])
        paging = f'{{"page":1,"pageSize":{size},"pageCount":1,"total":{total}}}'
        return f'{{"data":[{text}],"meta":{{"pagination":{paging}}}}}'.encode()

    def document(self, name: str, document: str, locale: str) -> tuple[int, bytes]:
        try:
            number = number_of(document)
        except ValueError:
            return 404, error(404)
        version = (name, number, locale)
        revision = self.content.now(version) if self.content.exists(version) else None
        if revision is None:
            return 404, error(404)
        return 200, f'{{"data":{row(name, number, locale, revision)},"meta":{{}}}}'.encode()


def section_of(name: str, revision: int) -> str:
    if name not in WITH_SECTION:
        return ""
    return f'"section":{{"documentId":"{SECTION_ID}","slug":"{section_slug(revision)}"}},'


def row(name: str, number: int, locale: str, revision: int) -> str:
    version = (name, number, locale)
    return (
        f'{{"id":{number},"documentId":"{document_id(number)}","publishedAt":"{STAMP}",'
        f'"updatedAt":"{STAMP}","locale":"{locale}",'
        f'{section_of(name, revision)}"slug":"{slug(version, revision % SECTION_STEP)}"}}'
    )


def error(status: int) -> bytes:
    fault: dict[str, Any] = {"status": status, "name": "NotFoundError", "message": "Not Found"}
    return json.dumps({"data": None, "error": fault | {"details": {}}}).encode()


class Conversation(asyncio.Protocol):
    """One connection: heads of GET requests in, responses out."""

    def __init__(self, cms: Cms) -> None:
        self.cms, self.buffer = cms, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head, self.buffer = self.buffer[:end], self.buffer[end + 4 :]
            target = head.split(b" ", 2)[1].decode("latin-1")
            if self.cms.delay:
                self.cms.loop.call_later(self.cms.delay, self.send, target)
            else:
                self.send(target)

    def send(self, target: str) -> None:
        status, body = self.cms.respond(target)
        head = (
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        if not self.transport.is_closing():
            self.transport.write(head.encode() + body)
