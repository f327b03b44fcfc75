"""The content of the fixture as the edits need it, and the URLs that Strapi's responses give."""

import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from strapi.fixture import FOLDER, FULL_TOKEN

ARTICLE, CATEGORY, PAGE = "api::article.article", "api::category.category", "api::page.page"
UIDS = (ARTICLE, CATEGORY, PAGE)
ENDPOINTS = {ARTICLE: "articles", CATEGORY: "categories", PAGE: "pages"}
BASE = "https://www.example.com"
LOCALES = ("en", "de", "fr")
# Seconds. The longest request publishes a category with thousands of articles.
PATIENCE = 900
Row = dict[str, Any]


@dataclass(frozen=True)
class Article:
    """An article whose English version has a usable slug."""

    id: str
    slug: str
    category: int
    is_published: bool

    def path(self, slug: str | None = None, category: str | None = None) -> str:
        return f"/en/a/{category or f'category-{self.category}'}/{slug or self.slug}"


def articles(count: int) -> Iterator[Article]:
    """The ordinary articles of the plan and its drafts, if they have a category."""
    command = ["node", str(FOLDER / "src/lib/plan.js"), str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    for line in done.stdout.decode().splitlines():
        plan = json.loads(line)
        if plan["cls"] in ("plain", "draft-only") and plan["category"] is not None:
            slug = next(v["slug"] for v in plan["versions"] if v["locale"] == "en")
            is_published = plan["cls"] == "plain"
            yield Article(plan["documentId"], slug, plan["category"], is_published)


class Strapi:
    """Requests with a full token."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.headers = {"Authorization": f"Bearer {FULL_TOKEN}", "Content-Type": "application/json"}

    def get(self, path: str) -> Any:
        request = urllib.request.Request(self.url + path, headers=self.headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)

    def post(self, path: str, body: Row) -> Any:
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self.headers, method="POST")
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)

    def act(self, call: Row) -> Any:
        """A call of the Document Service."""
        return self.post("/api/lab/action", call)

    def rows(self, endpoint: str, locale: str, more: str) -> Iterator[Row]:
        """A bare keyset walk: all published rows of a type in a locale."""
        last = ""
        while True:
            after = f"&filters[documentId][$gt]={last}" if last else ""
            query = f"status=published&locale={locale}&sort=documentId:asc&pagination[page]=1"
            page = self.get(f"/api/{endpoint}?{query}&pagination[pageSize]=100&{more}{after}")
            yield from page["data"]
            if len(page["data"]) < page["meta"]["pagination"]["pageSize"]:
                return
            last = page["data"][-1]["documentId"]

    def ids(self, endpoint: str) -> dict[str, str]:
        """The `documentId` of each English slug."""
        return {row["slug"]: row["documentId"] for row in self.rows(endpoint, "en", "fields=slug")}


def segment(value: object) -> str | None:
    """The encoded value of a field, or None where it cannot stand in a URL (D13)."""
    if not isinstance(value, str) or not value.strip():
        return None
    once = urllib.parse.unquote(value)
    for text in (value, once, urllib.parse.unquote(once)):
        if "/" in text or "\\" in text or text in (".", "..") or not text.isprintable():
            return None
    return urllib.parse.quote(value, safe="")


def urls(strapi: Strapi) -> dict[str, set[str]]:
    """All URLs that must be listed, computed from what Strapi returns now."""
    found: dict[str, set[str]] = {uid: set() for uid in UIDS}
    chain = "&populate[parent][populate][parent]".join(["populate[parent]", "[fields]=slug"])
    chain = "fields=slug&populate[parent][fields]=slug&" + chain
    for locale in LOCALES:
        for row in strapi.rows("articles", locale, "fields=slug&populate[category][fields]=slug"):
            parts = [segment((row["category"] or {}).get("slug")), segment(row["slug"])]
            add(found[ARTICLE], f"/{locale}/a", parts)
        for row in strapi.rows("categories", locale, "fields=slug"):
            add(found[CATEGORY], f"/{locale}/c", [segment(row["slug"])])
        for row in strapi.rows("pages", locale, chain):
            parts = []
            at: Row | None = row
            while at is not None:
                parts.insert(0, segment(at["slug"]))
                at = at.get("parent")
            add(found[PAGE], f"/{locale}/p", parts)
    return found


def add(found: set[str], start: str, parts: list[str | None]) -> None:
    if None not in parts:
        found.add(BASE + "/".join([start, *(part or "" for part in parts)]))
