"""Edits of the field of own paths, which the webhook of docs/strapi.md reports."""

import functools
import json
from typing import NamedTuple

from common.client import until
from strapi.hosts import COM
from strapi.live import Live
from strapi.own_paths.content import Version
from strapi.own_paths.oracle import FIELD, host_of
from strapi.service import LANDING, Service

# Seconds until an edit is seen: a hang guard.
PATIENCE = 120
SITE, FIRST = "three", "edited/first"
TEMPLATE = "/en/landings/{slug}/"
# The values that the field gets, and the paths that they give the document.
EDITS: list[tuple[str, str | None, str | None]] = [
    ("another own path", "edited/second", "/en/edited/second/"),
    ("a slash in front", "/edited/third", "/en/edited/third/"),
    ("no own path", None, TEMPLATE),
    ("an unusable own path", "edited//fourth", None),
    ("an empty own path", "", TEMPLATE),
    ("the first own path again", FIRST, f"/en/{FIRST}/"),
]


class State(NamedTuple):
    """What the operations say of one document."""

    listed: list[str]
    # The document that the path of the template and each path that the document had lead to.
    resolved: dict[str, str | None]
    frontend_url: str | None


def check_edits(live: Live, versions: list[Version]) -> None:
    checks, service = live.checks, live.service
    (edited,) = {
        (one.document, one.slug)
        for one in versions
        if one.custom_path == FIRST and one.locale == "en" and one.is_published
    }
    document, slug = edited[0], str(edited[1])
    template = TEMPLATE.replace("{slug}", slug)
    had = {template, f"/en/{FIRST}/"}

    def expected(path: str | None) -> State:
        resolved = {one: document if one == path else None for one in sorted(had)}
        return State([COM + path] if path else [], resolved, path)

    def is_seen(path: str | None) -> bool:
        return state(service, document, had) == expected(path)

    checks.equal("edits: at first", state(service, document, had), expected(f"/en/{FIRST}/"))
    for name, value, path in EDITS:
        after = path.replace("{slug}", slug) if path else None
        had |= {after} if after else set()
        live.act("update", document, uid=LANDING, data={FIELD: value})
        live.act("publish", document, uid=LANDING)
        took = until(functools.partial(is_seen, after), PATIENCE)
        found = state(service, document, had)
        checks.equal(f"edits: {name}", found, expected(after))
        print(f"edits: {name}: {took or -1:.1f} s", flush=True)
    live.act("update", document, uid=LANDING, data={FIELD: "edited/draft"})
    checks.equal("edits: a draft changes no page", state(service, document, had), expected(after))
    pathname, host = "/en/edited/draft/", host_of(COM)
    draft = service.get("/api/resolve", site=SITE, status="draft", pathname=pathname, host=host)
    checks.equal("edits: the draft by its own path", owner(draft.body), document)
    live.act("discardDraft", document, uid=LANDING)


def state(service: Service, document: str, had: set[str]) -> State:
    pages = service.get("/api/pages", site=SITE, contentType=LANDING)
    rows = json.loads(pages.body)["data"]["pages"]
    listed = [row["url"] for row in rows if (row["documentId"], row["locale"]) == (document, "en")]
    resolved = {}
    for path in sorted(had):
        found = service.get("/api/resolve", site=SITE, pathname=path, host=host_of(COM))
        resolved[path] = owner(found.body)
    url = service.get("/api/frontend-url", site=SITE, uid=LANDING, documentId=document)
    data = json.loads(url.body)["data"] or {}
    return State(listed, resolved, data.get("path"))


def owner(body: str) -> str | None:
    found: str | None = (json.loads(body)["data"] or {}).get("documentId")
    return found
