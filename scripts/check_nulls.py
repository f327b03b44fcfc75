#!/usr/bin/env python3
"""Resolves pathnames over restarts, outages and first walks: is there a wrong `documentId: null`?

The binary runs in front of a scripted CMS with six content types. All the time, types become slow,
silent or failing and recover, the CMS as a whole goes away and comes back, documents are published
and withdrawn, and the service is killed and started again. Clients resolve random pathnames
meanwhile. The oracle is the list of what the CMS has had and since when. Of the service it has the
templates alone:

- the response to a path that a document has had for longer than the response is old names this
  document, or is a 503 with `no-store` and `Retry-After`; never null, never another document;
- a path that no document has had is null, or such a 503;
- a path of no rule is a 404, at any time;
- `/api/get-content-type` never fails.

The age of a response is its `Age`, and without one the longest age that a response without `Age`
can have. It runs until each kind of response has been seen, however slow the machine is. Ends with
status 1 if a response is wrong, or if that does not happen in ten times the time.
"""

import argparse
import asyncio
import collections
import contextlib
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
import urllib.parse
from typing import Any, Literal

from common.build import BINARY
from common.client import Answer, get
from common.service import Service

Mode = Literal["healthy", "slow", "silent", "missing", "denied", "failing", "broken"]
FAULTS: tuple[Mode, ...] = ("slow", "silent", "missing", "denied", "failing", "broken")
# Templates by content type, in the order of the settings. Page, story and note are tied.
RULES = {
    "page": "/{locale}/{slug}",
    "story": "/{locale}/{slug}",
    "note": "/{locale}/{slug}",
    "article": "/{locale}/articles/{slug}",
    "author": "/authors/{slug}",
    "event": "/{locale}/events/{slug}",
}
LOCALES = ("en", "de")
DOCUMENTS = 40
SLOW_SECONDS = 0.4
# Ten seconds between the first response with `Age` and the first refusal.
SOFT_SECONDS, HARD_SECONDS = 1, 20
# A snapshot decides without `Age` until ten refreshes have been missed; a second for each end.
UNMARKED_SECONDS = 12
# Lives of the process of which most reach the hard limit.
LONGEST_LIFE = 2.5 * HARD_SECONDS
CLIENTS = 4
KINDS = {"document", "null", "404", "503", "stale document"}


class Content:
    """Published versions by content type, and when each path got and lost its document."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.rows: dict[str, dict[tuple[str, str], str]] = {name: {} for name in RULES}
        # The document of each path, since when, and until when.
        self.history: dict[str, list[tuple[str, float, float]]] = collections.defaultdict(list)
        for name in RULES:
            for at in range(DOCUMENTS):
                for locale in ("",) if name == "author" else LOCALES:
                    self.publish(name, f"{name}{at}", locale, f"{name}-{locale}-{at}")

    def path(self, name: str, locale: str, slug: str) -> str:
        return RULES[name].replace("{locale}", locale).replace("{slug}", slug)

    def publish(self, name: str, document: str, locale: str, slug: str) -> None:
        with self.lock:
            self.rows[name][locale, document] = slug
            path = self.path(name, locale, slug)
            self.history[path].append((document, time.monotonic(), float("inf")))

    def withdraw(self, name: str, document: str, locale: str) -> None:
        with self.lock:
            slug = self.rows[name].pop((locale, document), None)
            if slug is not None:
                history = self.history[self.path(name, locale, slug)]
                known, since, _ = history.pop()
                history.append((known, since, time.monotonic()))

    def owners(self, path: str, since: float, until: float) -> tuple[set[str], bool]:
        """The documents that the path had at any time, and whether it was without one."""
        with self.lock:
            spans = list(self.history.get(path, ()))
        found = {document for document, begin, end in spans if begin <= until and end >= since}
        always = any(begin <= since and end >= until for _, begin, end in spans)
        return found, not always

    def paths(self) -> list[str]:
        with self.lock:
            return list(self.history)


class Cms:
    """Responds like Strapi, each content type in a mode of its own."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.modes: dict[str, Mode] = dict.fromkeys(RULES, "healthy")
        self.is_away = False
        self.port = 0
        self.loop, ready = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.serve, args=(ready,), daemon=True).start()
        ready.wait()

    def serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.connection, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                if self.is_away:
                    break
                if not await self.respond(writer, head.decode("latin-1").split(" ")[1]):
                    break
        writer.transport.abort()

    async def respond(self, writer: asyncio.StreamWriter, target: str) -> bool:
        path, _, text = target.partition("?")
        name = path.removeprefix("/api/").split("/")[0]
        mode = self.modes.get(name, "missing")
        if mode == "silent":
            await asyncio.sleep(3600)
        if mode == "slow":
            await asyncio.sleep(SLOW_SECONDS * random.random() * 2)
        refused = {"missing": 404, "denied": 403, "failing": 500}.get(mode)
        status, data = (refused, error(refused)) if refused else self.page(name, text)
        body = json.dumps(data).encode()
        head = (
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        whole = mode != "broken"
        writer.write(head.encode() + (body if whole else body[: len(body) // 2]))
        await writer.drain()
        return whole

    def page(self, name: str, text: str) -> tuple[int, dict[str, Any]]:
        query = dict(urllib.parse.parse_qsl(text))
        if name == "author" and "locale" in query:
            details = {"key": "locale", "path": "author"}
            return 400, error(400, "ValidationError", "Invalid key locale", details)
        locale = query.get("locale", "")
        after = query.get("filters[documentId][$gt]", "")
        size = int(query.get("pagination[pageSize]", "100"))
        wanted = {
            value for key, value in query.items() if key.startswith("filters[documentId][$in]")
        }
        with self.content.lock:
            rows = sorted(
                (document, slug)
                for (own, document), slug in self.content.rows[name].items()
                if own == locale and document > after and (not wanted or document in wanted)
            )
        found = [
            {"id": 1, "documentId": document, "slug": slug}
            | ({"locale": own} if (own := locale) else {})
            for document, slug in rows[:size]
        ]
        paging = {"page": 1, "pageSize": size, "pageCount": 1, "total": len(rows)}
        return 200, {"data": found, "meta": {"pagination": paging}}


def error(
    status: int, name: str = "Error", message: str = "x", details: dict[str, str] | None = None
) -> dict[str, Any]:
    fault = {"status": status, "name": name, "message": message, "details": details or {}}
    return {"data": None, "error": fault}


def settings(port: int) -> str:
    lines = ["[server]", "drain_delay_ms = 0"]
    lines += ["[cms]", f'url = "http://127.0.0.1:{port}"', "[limits]", "cms_request_ms = 1000"]
    lines += ["[snapshots]", f"soft_seconds = {SOFT_SECONDS}", f"hard_seconds = {HARD_SECONDS}"]
    lines += ["cms_share = 1.0", "[[site]]", 'key = "main"', f"locales = {json.dumps(LOCALES)}"]
    lines += ['front_end_url = "https://www.example.com"', 'resolve = "documents"']
    for name, template in RULES.items():
        uid = f'"api::{name}.{name}"'
        lines += ["[[site.rule]]", f"content_type = {uid}", f'template = "{template}"']
    for name in RULES:
        lines += ["[[content_type]]", f'uid = "api::{name}.{name}"', f'endpoint = "{name}"']
    return "\n".join(lines) + "\n"


class Run:
    def __init__(self, binary: pathlib.Path, resolves: int, seconds: float, seed: int) -> None:
        self.binary, self.resolves, self.seconds = binary, resolves, seconds
        self.random = random.Random(seed)
        self.content = Content()
        self.cms = Cms(self.content)
        self.seen: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.lock = threading.Lock()
        self.address = ""
        self.started = 0.0
        self.restarts = 0
        self.is_over = threading.Event()

    def serve(self, file: pathlib.Path) -> None:
        """Starts the service again and again until the run is over."""
        while not self.is_over.is_set():
            # As the service reads them: paths of this life of the process.
            begun = time.monotonic()
            with Service(file, binary=self.binary, variables=VARIABLES) as service:
                self.started, self.address = begun, service.address
                self.is_over.wait(self.random.uniform(2, max(self.seconds / 6, LONGEST_LIFE)))
                self.address = ""
                if self.random.random() < 0.5:
                    service.stop()
            self.restarts += 1

    def disturb(self) -> None:
        """Changes the CMS several times a second."""
        turn = 0
        while not self.is_over.wait(0.15):
            name = self.random.choice(list(RULES))
            is_well = self.random.random() < 0.6
            self.cms.modes[name] = "healthy" if is_well else self.random.choice(FAULTS)
            if self.random.random() < 0.03:
                self.cms.is_away = True
                self.is_over.wait(self.random.uniform(0.5, 4))
                self.cms.is_away = False
            if self.random.random() < 0.01:
                # Longer than snapshots live.
                self.cms.modes = dict.fromkeys(RULES, self.random.choice(FAULTS))
                self.is_over.wait(HARD_SECONDS * 1.3)
                self.cms.modes = dict.fromkeys(RULES, "healthy")
            turn += 1
            locale = "" if name == "author" else self.random.choice(LOCALES)
            self.content.publish(name, f"new{turn}", locale, f"new-{name}-{turn}")
            if turn > 30:
                self.content.withdraw(name, f"new{turn - 30}", locale)

    def resolve(self, seed: int) -> None:
        own = random.Random(seed)
        while not self.is_over.wait(own.uniform(0, 2) * CLIENTS * self.seconds / self.resolves):
            path = self.pathname(own)
            address, started = self.address, self.started
            if not address:
                time.sleep(0.01)
                continue
            query = f"site=main&pathname={urllib.parse.quote(path)}"
            try:
                plain = get(address, f"/api/get-content-type?{query}", timeout=10)
                response = get(address, f"/api/resolve?{query}", timeout=10)
            except OSError:
                # It was stopped meanwhile.
                continue
            received = time.monotonic()
            if self.address != address:
                continue
            with self.lock:
                kind, fault = self.judge(path, response, started, received)
                if plain.status >= 500:
                    fault = f"get-content-type: {plain.status}"
                self.seen[kind] += 1
                if fault:
                    self.wrong.append(f"{path}: {fault}: {response}")
                if self.seen.total() >= self.resolves and set(self.seen) >= KINDS:
                    self.is_over.set()

    def pathname(self, own: random.Random) -> str:
        chance = own.random()
        if chance < 0.8:
            return own.choice(self.content.paths())
        if chance < 0.95:
            return own.choice(["/en/none", "/de/articles/none", "/authors/none", "/en/events/none"])
        return own.choice(["/", "/fr/none", "/en/a/b/c", "/authors"])

    def judge(
        self, path: str, response: Answer, started: float, received: float
    ) -> tuple[str, str | None]:
        """The kind of a response, and what is wrong with it."""
        if path in ("/", "/fr/none", "/en/a/b/c", "/authors"):
            return "404", None if response.status == 404 else "no rule matches"
        headers = {name.lower(): value for name, value in response.headers.items()}
        if response.status == 503:
            fault = json.loads(response.body)["error"]
            refused = headers.get("cache-control") == "no-store"
            refused &= "retry-after" in headers
            refused &= fault["name"] == "ServiceUnavailableError"
            return "503", None if refused else "not a refusal for want of knowledge"
        if response.status != 200:
            return str(response.status), "unexpected status"
        age = headers.get("age")
        seconds = UNMARKED_SECONDS if age is None else int(age) + 1
        documents, may_be_none = self.content.owners(
            path, max(received - seconds - 1, started - 1), received
        )
        found = json.loads(response.body)["data"]["documentId"]
        kind = "stale " if age is not None else ""
        if found is None:
            return f"{kind}null", None if may_be_none else "wrong null"
        return f"{kind}document", None if found in documents else f"wrong: {documents}"

    def run(self) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "settings.toml"
            file.write_text(settings(self.cms.port), encoding="utf-8")
            jobs = [threading.Thread(target=self.serve, args=(file,))]
            jobs.append(threading.Thread(target=self.disturb))
            jobs += [threading.Thread(target=self.resolve, args=(at,)) for at in range(CLIENTS)]
            for job in jobs:
                job.start()
            self.is_over.wait(self.seconds * 10)
            self.is_over.set()
            for job in jobs:
                job.join()
        print(f"{self.seen.total()} resolves, {self.restarts} restarts: {dict(self.seen)}")
        for fault in self.wrong[:10]:
            print(f"WRONG {fault}")
        unseen = KINDS - set(self.seen)
        print(f"{len(self.wrong)} wrong responses; not seen: {sorted(unseen) or 'nothing'}")
        return not self.wrong and not unseen and self.seen.total() >= self.resolves


VARIABLES = {"RUST_LOG": "error"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--resolves", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=120, help="about how long it takes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=BINARY)
    options = parser.parse_args()
    binary = pathlib.Path(os.environ.get("FRONTEND_MAP", options.binary)).resolve()
    run = Run(binary, options.resolves, options.seconds, options.seed)
    sys.exit(0 if run.run() else 1)


if __name__ == "__main__":
    main()
