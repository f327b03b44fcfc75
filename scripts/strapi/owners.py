"""Pairs of documents with one path, published in random order: a live page keeps its path."""

import json
import random
import time
import urllib.parse
from collections.abc import Callable
from functools import partial
from typing import Any

from strapi.live import PATIENCE, Live
from strapi.service import BASE, PAGE

SITE = "owners"
PAIRS = 100
SEED = 22


def settings(strapi: str) -> str:
    # Several documents may have one title, unlike the slugs of the fixture.
    return f"""
[cms]
url = "{strapi}"
[[site]]
key = "{SITE}"
front_end_url = "{BASE}"
locales = ["en"]
resolve = "documents"
[[site.rule]]
content_type = "{PAGE}"
template = "/owners/{{title}}"
"""


class Pairs:
    """Documents that share titles, two each, and which of them was published first."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.random = random.Random(SEED)
        self.first: dict[str, str] = {}
        self.second: dict[str, str] = {}

    def act(self, action: str, **more: object) -> Any:
        what = {"uid": PAGE, "action": action, "locale": "en"}
        return self.live.post("/api/lab/action", what | more)

    def create(self, title: str) -> str:
        slug = f"{title}-{self.random.getrandbits(48):x}"
        made = self.act("create", data={"title": title, "slug": slug})
        document: str = made["documentId"]
        return document

    def owner(self, title: str) -> object:
        path = f"/owners/{title}"
        response = self.live.service.get("/api/resolve", site=SITE, pathname=path)
        return (json.loads(response.body)["data"] or {}).get("documentId", response.status)

    def shared(self, document: str) -> object:
        query = urllib.parse.urlencode({"uid": PAGE, "documentId": document, "site": SITE})
        response = self.live.service.get(f"/api/frontend-urls?{query}")
        result = json.loads(response.body)["data"]["results"][0]
        return result.get("sharedPath", {}).get("owner", {}).get("documentId")

    def wait(self, name: str, holds: Callable[[], object]) -> None:
        begun = time.monotonic()
        while not holds():
            if time.monotonic() - begun > PATIENCE:
                raise SystemExit(f"{name}\n{self.live.service.log()[-4000:]}")
            time.sleep(0.02)

    def is_live(self, title: str) -> bool:
        """Whether the document that was published first owns the path."""
        return self.owner(title) == self.first[title]

    def is_shared(self, *documents: str) -> bool:
        """Whether one of these documents has the path of another one."""
        return any(self.shared(document) for document in documents)


def check_owners(live: Live) -> None:
    """Each pair is created in one order and published in a random one, all pairs mixed."""
    pairs, begun = Pairs(live), time.monotonic()
    pairs.wait("the pages are not known", lambda: pairs.owner("no-such") != 503)
    titles = [f"pair-{n}" for n in range(PAIRS)]
    documents = {title: [pairs.create(title), pairs.create(title)] for title in titles}
    order = [title for title in titles for _ in range(2)]
    pairs.random.shuffle(order)
    takeovers, smaller, older = [], 0, 0
    for title in order:
        if title not in pairs.first:
            chosen = pairs.random.randrange(2)
            pairs.first[title] = documents[title][chosen]
            pairs.second[title] = documents[title][1 - chosen]
            pairs.act("publish", documentId=pairs.first[title])
            pairs.wait("it is live", partial(pairs.is_live, title))
        else:
            first, second = pairs.first[title], pairs.second[title]
            smaller += second < first
            older += documents[title][0] == second
            pairs.act("publish", documentId=second)
            pairs.wait("it is known", partial(pairs.is_shared, first, second))
            if pairs.owner(title) != first:
                takeovers.append(title)
    late = [title for title in titles if pairs.owner(title) != pairs.first[title]]
    live.checks.equal("owners: no page loses its path", sorted({*takeovers, *late}), [])
    told = [pairs.shared(pairs.second[title]) == pairs.first[title] for title in titles]
    live.checks.equal("owners: each other document names the owner", all(told), True)
    live.checks.check("owners: both orders occur", 0 < smaller < PAIRS and 0 < older < PAIRS)
    seconds = time.monotonic() - begun
    print(
        f"owners: {PAIRS} pairs, {len({*takeovers, *late})} takeovers; the later one had the "
        f"smaller id in {smaller} and was created first in {older}: {seconds:.0f} s",
        flush=True,
    )
