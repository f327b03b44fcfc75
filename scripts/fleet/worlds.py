"""The CMS behind a fleet whose costs are counted: a scripted one, or the fixture's real Strapi."""

import contextlib
import json
import random
import re
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from fleet.cms import DOCUMENT, LIST, REREAD, Cms
from fleet.content import Content, Kind, document_id, slug
from fleet.service import SITE, Settings, list_target
from strapi import fixture
from strapi.failing_proxy import FailingProxy
from strapi.service import ARTICLE, MAIN
from strapi.service import settings as settings_of_strapi

ARTICLES = 300


class Edit(NamedTuple):
    """A document that has been renamed, and the end of its path now."""

    uid: str
    document: str
    shown: bytes

    @property
    def target(self) -> str:
        """What snapshots answer: no request to the CMS."""
        return f"/api/frontend-urls?site={SITE}&uid={self.uid}&documentId={self.document}&locale=en"


class World(Protocol):
    name: str
    # Targets of all lists, each of which a walk builds.
    targets: list[str]

    def text(self, redis: str) -> str:
        """The settings of an instance; without Redis: as without the fleet."""

    def requests(self) -> Counter[str]:
        """By kind, as the CMS counted them so far."""

    def rename(self, random: random.Random) -> Edit: ...

    def rename_many(self, share: float) -> Edit | None:
        """A number of all documents, and the last of these edits; None: it cannot."""

    def variables(self) -> dict[str, object]: ...


class Fake:
    """One content type in one locale."""

    def __init__(self, documents: int) -> None:
        self.kind = Kind("article", ("en",))
        self.documents = documents
        self.content = Content((self.kind,), documents)
        self.cms = Cms(self.content)
        self.name = f"fake CMS with {documents:,} documents"
        self.targets = [list_target(self.kind)]

    def text(self, redis: str) -> str:
        return Settings(self.cms.url, (self.kind,), redis).text()

    def variables(self) -> dict[str, object]:
        return {}

    def requests(self) -> Counter[str]:
        return Counter(self.cms.counts)

    def rename(self, random: random.Random) -> Edit:
        return self.rename_one(random.randrange(self.documents))

    def rename_one(self, number: int) -> Edit:
        version = (self.kind.name, number, "en")
        revision = self.content.next_revision(version)
        self.content.edit(version, revision)
        end = f"/{slug(version, revision)}"
        return Edit(self.kind.uid, document_id(number), end.encode())

    def rename_many(self, share: float) -> Edit | None:
        edits = [self.rename_one(number) for number in range(int(self.documents * share))]
        return edits[-1] if edits else None


class Counting(FailingProxy):
    """Counts the requests that it forwards to Strapi, by kind."""

    def __init__(self, strapi: str) -> None:
        super().__init__(strapi)
        self.counts: Counter[str] = Counter()

    def respond(self, target: str, token: str | None) -> tuple[int, bytes]:
        kind = kind_of(target)
        with self.lock:
            self.counts[kind] += 1
        return super().respond(target, token)


def kind_of(target: str) -> str:
    path, _, query = target.partition("?")
    if "pagination[pageSize]" in urllib.parse.unquote(query):
        is_reread = re.search(r"\[documentId\]\[\$(in|eq)\]", urllib.parse.unquote(query))
        return REREAD if is_reread else LIST
    return (
        DOCUMENT if path.count("/") >= 3 and not path.startswith("/api/content-type") else "other"
    )


class Strapi:
    """The sites of `e2e_strapi.py` in front of the fixture; its articles are renamed."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.proxy = Counting(url)
        self.name = f"Strapi with {ARTICLES} articles"
        self.targets = [f"/api/build-sitemap?site=main&contentType={uid}" for uid in MAIN]
        self.renamed = 0
        self.rows = self.ask("/api/articles?fields=slug&locale=en&pagination[pageSize]=100")["data"]

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {
            "Authorization": f"Bearer {fixture.FULL_TOKEN}",
            "Content-Type": "application/json",
        }
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=120) as response:
            return json.load(response)

    def text(self, redis: str) -> str:
        text = settings_of_strapi(self.proxy.url, declares_single_type=True, by_documents=True)
        if redis:
            text += f'[shared]\nurl = "redis://{redis}"\nkey_file = "key"\nprefix = "fleet-check"\n'
        return text + "[snapshots]\nsoft_seconds = 3600\n"

    def variables(self) -> dict[str, object]:
        return {"CMS__TOKEN": fixture.READ_TOKEN}

    def requests(self) -> Counter[str]:
        with self.proxy.lock:
            return Counter(self.proxy.counts)

    def rename(self, random: random.Random) -> Edit:
        document = random.choice(self.rows)["documentId"]
        self.renamed += 1
        name = f"renamed-by-the-fleet-check-{self.renamed}"
        what = {"uid": ARTICLE, "documentId": document, "locale": "en"}
        self.ask("/api/lab/action", what | {"action": "update", "data": {"slug": name}})
        self.ask("/api/lab/action", what | {"action": "publish"})
        return Edit(ARTICLE, document, f"/{name}".encode())

    def rename_many(self, share: float) -> Edit | None:
        return None


@contextlib.contextmanager
def fake(documents: int) -> Iterator[World]:
    yield Fake(documents)


@contextlib.contextmanager
def strapi() -> Iterator[World]:
    """Installed if it is not yet (minutes); removed at the end."""
    with fixture.running(ARTICLES, bulk=False) as server:
        world = Strapi(server.url)
        with world.proxy:
            yield world
