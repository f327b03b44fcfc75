"""Paths that move: edits that Strapi's own webhook reports, and where each earlier path leads."""

import json
import re
import time
import urllib.parse
from collections.abc import Callable
from typing import Any

from strapi.live import PATIENCE, Live
from strapi.service import ARTICLE, BASE, CATEGORY, LOCALES, PAGE
from strapi.webhooks import call

SITE = "moved"
PLAIN = re.compile(r"/en(/[a-z0-9-]+)+")

# A content type, a document, a locale.
Version = tuple[str, str, str]
Paths = dict[str, Version]


def settings(strapi: str) -> str:
    return f"""
[cms]
url = "{strapi}"
[[site]]
key = "{SITE}"
front_end_url = "{BASE}"
locales = {json.dumps(LOCALES)}
resolve = "documents"
[[site.rule]]
content_type = "{ARTICLE}"
template = "/{{locale}}/articles/{{category.slug}}/{{slug}}"
[[site.rule]]
content_type = "{CATEGORY}"
template = "/{{locale}}/categories/{{slug}}"
[[site.rule]]
content_type = "{PAGE}"
template = "/{{locale}}/pages/{{*path}}"
params.path = {{ field = "slug", ancestors = "parent" }}
"""


class Moves:
    """The pages of the site, and the version that had each earlier path last."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.former: Paths = {}
        self.pages = self.listed()

    def listed(self) -> Paths:
        response = self.live.service.get("/api/pages", site=SITE)
        rows = json.loads(response.body)["data"]["pages"]
        return {row["path"]: (row["contentType"], row["documentId"], row["locale"]) for row in rows}

    def step(
        self, name: str, calls: list[dict[str, Any]], moved: Callable[[str], str | None]
    ) -> None:
        """`moved` gives the path that each present one becomes."""
        after = {new: version for path, version in self.pages.items() if (new := moved(path))}
        self.live.checks.check(f"moved: {name}: has an effect", after != self.pages)
        for one in calls:
            self.live.post("/api/lab/action", one)
        begun = time.monotonic()
        lost = {path: own for path, own in self.pages.items() if after.get(path) != own}
        self.former |= lost
        expected = self.expected(after)
        while (wrong := self.wrong(after, expected)) and time.monotonic() - begun < PATIENCE:
            time.sleep(0.02)
        seconds = time.monotonic() - begun
        self.pages = after
        self.live.checks.check(f"moved: {name}", not wrong, wrong[:5])
        self.live.checks.passed += len(expected)
        print(f"moved: {name}: {len(lost)} paths, {len(expected)} in all: {seconds:.2f} s")

    def expected(self, pages: Paths) -> dict[str, str]:
        """What each earlier path leads to."""
        now = {version: path for path, version in pages.items()}
        found = {}
        for path, version in self.former.items():
            if path in pages:
                found[path] = f"document {pages[path][1]}"
            else:
                found[path] = f"redirect {now[version]}" if version in now else "gone"
        return found

    def wrong(self, pages: Paths, expected: dict[str, str]) -> list[tuple[str, object]]:
        if (listed := self.listed()) != pages:
            return list(listed.items() ^ pages.items())
        found = {path: self.leads(path) for path in expected}
        return list(found.items() - expected.items())

    def leads(self, path: str) -> str:
        response = self.live.service.get("/api/resolve", site=SITE, pathname=path)
        content = json.loads(response.body)
        if response.status == 404 and "gone" in content["error"]["details"]:
            return "gone"
        data = content["data"] or {}
        kind = data.get("kind", response.status)
        if kind == "redirect":
            target = data["redirect"]
            same = target["to"] == BASE + target["path"] and target["status"] == 308
            return f"redirect {target['path']}" if same else str(target)
        if kind == "document":
            return f"document {data['documentId']}"
        return "gone" if "gone" in data else str(kind)


def check_moves(live: Live) -> None:
    """Renames, also of documents that others have in their paths; a swap; a withdrawal."""

    def are_known() -> bool:
        paths = [f"/en/{prefix}/no/such" for prefix in ("articles", "categories", "pages")]
        get = live.service.get
        found = [get("/api/resolve", site=SITE, pathname=path).status for path in paths]
        return 503 not in found

    live.service.wait_until(are_known, PATIENCE)
    moves = Moves(live)
    (first, one), (second, other) = same_category(moves.pages)
    renamed = f"{first}-renamed"

    def rename(name: str, path: str, new: str) -> None:
        moves.step(name, put(moves.pages[path], new), under(path, new))

    rename("an article", first, renamed)
    rename("an article, back", renamed, first)
    category, parent = path_of_category(moves.pages, first), parent_of_pages(moves.pages)
    new_category = f"{category}-renamed"
    segment, new_segment = (last(path) for path in (category, new_category))
    moves.step(
        "a category",
        put(moves.pages[category], new_category),
        lambda path: (
            new_category
            if path == category
            else path.replace(f"/en/articles/{segment}/", f"/en/articles/{new_segment}/")
        ),
    )
    first, second = (
        path.replace(f"/{segment}/", f"/{new_segment}/", 1) for path in (first, second)
    )
    rename("a parent of pages", parent, f"{parent}-renamed")
    # A slug is unique: a third one is needed.
    swap = [*put(one, f"{first}-swap"), *put(other, first), *put(one, second)]
    swapped = {first: second, second: first}
    moves.step("two articles swap", swap, lambda path: swapped.get(path, path))
    rename("one of them is renamed", first, f"{first}-own")
    rename("and the other one", second, f"{second}-own")
    uid, document, _ = one
    away = f"{second}-own"
    moves.step(
        "unpublished",
        [call("unpublish", uid, document)],
        lambda path: None if path == away else path,
    )
    moves.pages[away] = one
    live.post("/api/lab/action", call("publish", uid, document))
    again = f"{away}-again"
    moves.step("published again, renamed", put(one, again), under(away, again))


def put(version: Version, path: str) -> list[dict[str, Any]]:
    """Gives a document the slug at the end of a path, and publishes it."""
    uid, document, _ = version
    return [
        call("update", uid, document, data={"slug": last(path)}),
        call("publish", uid, document),
    ]


def last(path: str) -> str:
    return urllib.parse.unquote(path.rpartition("/")[2])


def under(old: str, new: str) -> Callable[[str], str]:
    """Moves a path and those below it."""

    def moved(path: str) -> str:
        is_below = path == old or path.startswith(f"{old}/")
        return new + path.removeprefix(old) if is_below else path

    return moved


def same_category(pages: Paths) -> list[tuple[str, Version]]:
    """Two articles."""
    by_category: dict[str, list[tuple[str, Version]]] = {}
    for path, version in sorted(pages.items()):
        if version[0] == ARTICLE and PLAIN.fullmatch(path):
            by_category.setdefault(path.rpartition("/")[0], []).append((path, version))
    return next(found[:2] for found in by_category.values() if len(found) > 1)


def path_of_category(pages: Paths, article: str) -> str:
    path = f"/en/categories/{article.split('/')[3]}"
    if pages[path][0] != CATEGORY:
        raise SystemExit(f"{path} is not a category")
    return path


def parent_of_pages(pages: Paths) -> str:
    """The first page with another one below it."""
    own = [path for path, (uid, *_) in sorted(pages.items()) if uid == PAGE]
    return next(
        path
        for path in own
        if PLAIN.fullmatch(path) and any(one.startswith(f"{path}/") for one in own)
    )
