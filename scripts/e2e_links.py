#!/usr/bin/env python3
"""Plants links in a real Strapi 5 and compares the verdict about each with what was planted.

Documents in two locales link to each other in Markdown, HTML, Blocks, a URL field, a component and
a dynamic zone. Each address is made for one verdict: `ok`, `moved` (its document is renamed),
`gone` (it is unpublished), `no_such_page`, `other_locale` and `not_canonical`. The frontend of the
settings counts its requests: there must be none. Then an editor changes a text, and a page that
others link to; the seconds until the verdict are printed.

The Strapi is the fixture `tests/strapi`, as in `e2e_strapi.py`. --links is the number of links.
Ends with `N passed, N failed`, and status 0 if none failed.
"""

import argparse
import collections
import contextlib
import http.server
import json
import pathlib
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from common.build import BINARY
from common.client import free_port
from strapi.checks import Checks
from strapi.fixture import CANNOT_SET_UP, FULL_TOKEN, running
from strapi.live import HOOK_SECRET, Live
from strapi.service import Service

UID, SITE, TOKEN = "api::text.text", "main", "a-validation-token"
LOCALES = ("en", "de")
VERDICTS = ("ok", "moved", "gone", "no_such_page", "other_locale", "not_canonical")
LINKS, SEED = 10_000, 34
# The fields of the links of one version, in their order.
OF_A_VERSION = [
    *["markdown"] * 5,
    *["html"] * 5,
    *["blocks"] * 5,
    *["zone.text", "zone.text", "zone.button.href", "url", "meta.canonicalUrl"],
]
# Pages that are renamed, and that are unpublished.
RENAMED, WITHDRAWN = 20, 20
FIELDS = sorted(set(OF_A_VERSION))
# In seconds: a hang guard, and the promise for an edit.
PATIENCE, PROMISED = 600, 1.0


class Planted(NamedTuple):
    """A link as it must come out."""

    document: str
    locale: str
    field: str
    address: str
    verdict: str
    to: str | None


class Frontend(http.server.BaseHTTPRequestHandler):
    """Counts its requests."""

    requests = 0

    def do_GET(self) -> None:
        Frontend.requests += 1
        self.send_response(200)
        self.end_headers()


class Address(NamedTuple):
    """An address, with the verdict that it is made for and its target."""

    text: str
    verdict: str
    to: str | None


class Pages:
    """What the addresses lead to."""

    def __init__(self, base: str, chosen: random.Random, documents: int) -> None:
        self.base, self.chosen, self.documents = base, chosen, documents

    def address(self, locale: str, field: str) -> Address:
        slug = f"t-{self.chosen.randrange(RENAMED + WITHDRAWN, self.documents)}"
        path = path_of(locale, slug)
        kind = self.chosen.choice(VERDICTS)
        forms, to = self.forms(kind, locale, slug)
        if field == "blocks":
            # Strapi refuses relative addresses in Blocks.
            forms = [form for form in forms if not form.startswith(".")]
        return Address(
            self.chosen.choice(forms), kind, to if to is None else self.base + (to or path)
        )

    def forms(self, kind: str, locale: str, slug: str) -> tuple[list[str], str | None]:
        """The addresses of a verdict, and the path of the target; empty: that of the page."""
        path, base = path_of(locale, slug), self.base
        if kind == "ok":
            return [path, base + path, f"{path}#part", f"{path}?a=1", f"./{slug}"], None
        if kind == "moved":
            number = self.chosen.randrange(RENAMED)
            return [path_of(locale, f"t-{number}")], path_of(locale, f"new-{number}")
        if kind == "gone":
            number = RENAMED + self.chosen.randrange(WITHDRAWN)
            return [path_of(locale, f"t-{number}")], None
        if kind == "no_such_page":
            number = self.chosen.randrange(10_000)
            slugs = [f"none-{number}", f"a%2Fb-{number}"]
            return [*(path_of(locale, one) for one in slugs), f"/nowhere/{number}"], None
        if kind == "other_locale":
            return [path_of(LOCALES[1 - LOCALES.index(locale)], slug)], ""
        https = base.replace("http://", "https://") + path
        upper = path.replace("/texts/t-", "/Texts/T-")
        return [f"{path}/", path.replace("/texts", "//texts"), upper, https], ""


def path_of(locale: str, slug: str) -> str:
    return f"/{locale}/texts/{slug}"


def node(kind: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "children": list(children)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def link(address: str) -> dict[str, Any]:
    return node("link", text("link")) | {"url": address}


def content_of(addresses: list[str]) -> dict[str, Any]:
    """The fields of a version with these addresses, in their order."""
    one = iter(addresses)
    first, second, third, fourth, fifth = (next(one) for _ in range(5))
    markdown = f"""# Title

See [one]({first}), [*two*](<{second}> 'title'), [three][3] and [four][4].

- <a href="{fifth}">five</a> ![no](/image.png) [mail](mailto:a@b.example)

[3]: {third}
[4]: {fourth}
"""
    html = "".join(f"<p>Text <a class='x' href='{next(one)}'>link</a></p>" for _ in range(5))
    paragraphs = [node("paragraph", text("See "), link(next(one)), text("")) for _ in range(4)]
    items = node("list", node("list-item", link(next(one)))) | {"format": "unordered"}
    parts = [f"[one]({next(one)})", f"<p><a href='{next(one)}'>two</a></p>"]
    zone = [
        {"__component": "shared.part", "text": parts[0]},
        {"__component": "shared.hero", "title": "H", "button": {"label": "Go", "href": next(one)}},
        {"__component": "shared.part", "text": parts[1]},
    ]
    return {
        "markdown": markdown,
        "html": html,
        "blocks": [*paragraphs, items],
        "zone": zone,
        "url": next(one),
        "meta": {"canonicalUrl": next(one)},
    }


def settings(strapi: str, base: str) -> str:
    return f"""
[cms]
url = "{strapi}"
[[site]]
key = "{SITE}"
front_end_url = "{base}"
locales = {json.dumps(LOCALES)}
resolve = "documents"
[[site.rule]]
content_type = "{UID}"
template = "/{{locale}}/texts/{{slug}}"
[[site.links]]
content_type = "{UID}"
fields = {json.dumps(FIELDS)}
"""


class Links:
    """The list of the service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.headers = {"Authorization": f"Bearer {TOKEN}"}

    def read(self, **filters: str) -> dict[str, Any] | None:
        response = self.service.get("/api/links", self.headers, site=SITE, **filters)
        if response.status != 200:
            return None
        found: dict[str, Any] = json.loads(response.body)["data"]
        return found

    def counts(self) -> collections.Counter[str]:
        """The number of links with each verdict, without those of none."""
        found = self.read(verdict="ok")
        return +collections.Counter(found["verdicts"] if found else {})

    def verdict(self, document: str, address: str) -> str | None:
        """The verdict about an address in the English Markdown of a document."""
        found = self.read(documentId=document)
        rows = found["links"] if found else []
        wanted = ("en", "markdown", address)
        verdicts = (
            row["verdict"]
            for row in rows
            if (row["locale"], row["field"], row["address"]) == wanted
        )
        return next(verdicts, None)


def without_fragment(address: str) -> str:
    return address.split("#")[0]


def check(checks: Checks, links: Links, planted: list[Planted]) -> None:
    begun = time.monotonic()
    found = links.read()
    seconds = time.monotonic() - begun
    assert found is not None
    rows = [
        Planted(
            row["documentId"],
            row["locale"],
            row["field"],
            row["address"],
            row["verdict"],
            row["to"],
        )
        for row in found["links"]
    ]
    expected = collections.Counter(
        one._replace(address=without_fragment(one.address)) for one in planted
    )
    wrong = collections.Counter(rows) - expected
    missing = expected - collections.Counter(rows)
    for one in [*wrong][:5]:
        print(f"  unexpected: {one}")
    for one in [*missing][:5]:
        print(f"  missing: {one}")
    checks.equal("links: as planted", (wrong.total(), missing.total()), (0, 0))
    checks.equal("links: left out", (found["leftOut"], found["unreadable"]), (0, 0))
    counts = collections.Counter(row.verdict for row in rows)
    by_field = collections.Counter(row.field for row in rows)
    print(f"links: {len(rows)} in {seconds:.2f} s: {dict(counts)}, {dict(by_field)}", flush=True)
    for verdict in VERDICTS:
        checks.check(f"links: some are {verdict}", counts[verdict] > 0)


def act(live: Live, action: str, document: str | None, locale: str, **data: object) -> str:
    """A call of Strapi's Document Service; what is saved is published. Returns the `documentId`."""
    more = {"status": "published", "data": data} if data else {}
    found = live.act(action, document, uid=UID, locale=locale, **more)
    return str(found.get("documentId", document))


def check_edits(checks: Checks, live: Live, links: Links, documents: list[str]) -> None:
    """An edit of either end."""
    other, target, editing = documents[-3:]
    slug = f"t-{len(documents) - 2}"
    path = path_of("en", slug)
    seconds = []

    def shows(name: str, verdict: str) -> None:
        took = live.service.wait_until(lambda: links.verdict(editing, path) == verdict, PATIENCE)
        seconds.append(took)
        print(f"edit: {name}: {seconds[-1]:.2f} s after Strapi's response", flush=True)

    act(live, "update", editing, "en", markdown=f"[x]({path})")
    shows("the text changes", "ok")
    act(live, "update", target, "en", slug="renamed")
    shows("the target is renamed", "moved")
    act(live, "unpublish", target, "en")
    shows("the target is unpublished", "gone")
    act(live, "update", other, "en", slug=slug)
    shows("another page gets the path", "ok")
    checks.check(f"edits: each within {PROMISED} s", max(seconds) <= PROMISED, seconds)


def plant(live: Live, pages: Pages, documents: int) -> tuple[list[str], list[Planted]]:
    """The documents, and the links in them."""
    ids: list[str] = []
    planted: list[Planted] = []
    for number in range(documents):
        document: str | None = None
        for locale in LOCALES:
            addresses = [pages.address(locale, field) for field in OF_A_VERSION]
            content = content_of([address.text for address in addresses])
            action = "update" if document else "create"
            document = act(live, action, document, locale, slug=f"t-{number}", **content)
            rows = zip(OF_A_VERSION, addresses, strict=True)
            planted += [Planted(document, locale, field, *address) for field, address in rows]
        ids.append(str(document))
    return ids, planted


@contextlib.contextmanager
def frontend() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Frontend)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=BINARY)
    parser.add_argument("--links", type=int, default=LINKS, help="the number of planted links")
    options = parser.parse_args()
    binary = options.binary.resolve()
    if not binary.is_file():
        print(f"{binary} is missing")
        sys.exit(CANNOT_SET_UP)
    checks, port = Checks(), free_port()
    # Those that are withdrawn have no links of their own.
    documents = options.links // (len(OF_A_VERSION) * len(LOCALES)) + WITHDRAWN
    variables = {
        "FRONTEND_MAP_HOOK": f"http://127.0.0.1:{port}/hooks/cms",
        "FRONTEND_MAP_HOOK_SECRET": HOOK_SECRET,
    }
    with contextlib.ExitStack() as stack:
        strapi = stack.enter_context(running(5, bulk=False, variables=variables))
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        base = stack.enter_context(frontend())
        overrides = {
            "SERVER__LISTEN": f"127.0.0.1:{port}",
            "HOOKS__SECRET": HOOK_SECRET,
            "AUTH__VALIDATE_TOKEN": TOKEN,
            # Only webhooks refresh the snapshots.
            "SNAPSHOTS__SOFT_SECONDS": 3600,
        }
        service = Service(
            binary,
            folder,
            strapi.url,
            FULL_TOKEN,
            log="info",
            overrides=overrides,
            text=settings(strapi.url, base),
        )
        live = Live(checks, service, strapi.url, FULL_TOKEN)
        begun = time.monotonic()
        ids, planted = plant(live, Pages(base, random.Random(SEED), documents), documents)
        print(f"planted {len(planted)} links in {time.monotonic() - begun:.0f} s", flush=True)
        with service:
            links = Links(service)
            service.wait_until(links.read, PATIENCE)
            # The paths are known now, so that renamed ones are former paths.
            for number, document in enumerate(ids[: RENAMED + WITHDRAWN]):
                for locale in LOCALES:
                    if number < RENAMED:
                        act(live, "update", document, locale, slug=f"new-{number}")
                    else:
                        act(live, "unpublish", document, locale)
            gone = set(ids[RENAMED : RENAMED + WITHDRAWN])
            left = [one for one in planted if one.document not in gone]
            expected = collections.Counter(one.verdict for one in left)
            service.wait_until(lambda: links.counts() == expected, PATIENCE)
            check(checks, links, left)
            check_edits(checks, live, links, ids)
            checks.equal("requests to the frontend", Frontend.requests, 0)
            checks.check("no panic", "panicked" not in service.log())
            print(
                [
                    line
                    for line in service.log().splitlines()
                    if "links in content were read" in line
                ][-1:]
            )
    failed = checks.failed.total()
    print(f"{checks.passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
