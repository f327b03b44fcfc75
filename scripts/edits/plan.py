"""The edits: what Strapi is to do, and what the service must show afterwards."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from edits.content import ARTICLE, CATEGORY, PAGE, Article, Row, Strapi, segment

# How many of each kind: 200 in all.
COUNTS = {
    "article rename": 60,
    "article publish": 34,
    "article create": 34,
    "article unpublish": 30,
    "article delete": 30,
    "page-tree parent": 5,
    "category slug": 4,
    "category unpublish": 1,
    "category publish": 1,
    "category delete": 1,
}
KINDS = tuple(COUNTS)
# Seconds by kind.
Durations = dict[str, list[float]]
# Articles are edited in these categories, so that the counts of the others change with them alone.
OF_ARTICLES = (7, 8, 9, 10)
OF_SLUGS, OF_STATUS, OF_DELETION = (0, 1, 2, 3), 5, (6, 4)
# Pages whose renames do not overlap: two roots, and the children of the third.
PARENTS = ("page-0", "page-1", "page-9", "page-10", "page-11")


@dataclass(frozen=True)
class Listed:
    """How many URLs of a type must begin with a path, or be exactly it."""

    uid: str
    path: str
    count: int
    is_whole: bool = True


@dataclass(frozen=True)
class Edit:
    """Calls of Strapi, and what must be seen after the response to the last one."""

    kind: str
    calls: list[Row]
    listed: list[Listed]
    # The document that owns each path; None: no document does.
    owners: dict[str, str | None]
    # The path of a document's English version; None: it has no URL.
    uid: str
    document: str
    path: str | None


@dataclass
class Plan:
    """Edits that do not depend on each other; each turn takes other articles and other slugs."""

    strapi: Strapi
    all_articles: list[Article]
    categories: dict[str, str] = field(init=False)
    pages: dict[str, str] = field(init=False)
    turns: Iterator[int] = field(default_factory=itertools.count)
    # The present slug of what was renamed.
    slugs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.categories, self.pages = self.strapi.ids("categories"), self.strapi.ids("pages")
        chosen = [one for one in self.all_articles if one.category in OF_ARTICLES]
        random.Random(13).shuffle(chosen)
        self.published = (one for one in chosen if one.is_published)
        self.drafts = (one for one in chosen if not one.is_published)
        self.deletions = iter(OF_DELETION)

    def articles(self, counts: dict[str, int]) -> list[Edit]:
        """Edits of single articles and pages, in a random order with a fixed seed."""
        turn = next(self.turns)
        edits = [
            *(self.rename(turn) for _ in range(counts["article rename"])),
            *(self.publish() for _ in range(counts["article publish"])),
            *(self.create(turn, n) for n in range(counts["article create"])),
            *(self.unpublish() for _ in range(counts["article unpublish"])),
            *(self.delete() for _ in range(counts["article delete"])),
            *(self.parent(turn, page) for page in PARENTS[: counts["page-tree parent"]]),
        ]
        random.Random(turn).shuffle(edits)
        return edits

    def slow(self, counts: dict[str, int], may_delete: bool) -> list[Edit]:
        """Edits of categories; the count of their articles is taken when they are made."""
        turn = next(self.turns)
        slugs = [self.category_slug(turn, n) for n in OF_SLUGS[: counts["category slug"]]]
        deletion = [self.category_delete()] if may_delete else []
        # Unpublished first and published again last, so that one can be seen before the other.
        unpublish, publish = (self.category_status(action) for action in ("unpublish", "publish"))
        return [unpublish, *slugs, *deletion, publish]

    def rename(self, turn: int) -> Edit:
        one = next(self.published)
        slug = f"renamed-{turn}-{one.slug}"
        old, new = one.path(), one.path(slug)
        update = act("update", ARTICLE, one.id, data={"slug": slug})
        calls = [update, act("publish", ARTICLE, one.id)]
        listed = [Listed(ARTICLE, old, 0), Listed(ARTICLE, new, 1)]
        return Edit("article rename", calls, listed, {old: None, new: one.id}, *of(one, new))

    def publish(self) -> Edit:
        one = next(self.drafts)
        calls, path = [act("publish", ARTICLE, one.id)], one.path()
        return Edit(
            "article publish", calls, [Listed(ARTICLE, path, 1)], {path: one.id}, *of(one, path)
        )

    def create(self, turn: int, n: int) -> Edit:
        document = f"dcreated{turn}x{n}".ljust(24, "x")
        one = Article(document, f"created-{turn}-{n}", 7, True)
        data = {"documentId": document, "title": one.slug, "slug": one.slug}
        data["category"] = self.categories["category-7"]
        create: Row = {"uid": ARTICLE, "action": "create", "locale": "en", "data": data}
        calls, path = [create | {"status": "published"}], one.path()
        return Edit(
            "article create", calls, [Listed(ARTICLE, path, 1)], {path: document}, *of(one, path)
        )

    def unpublish(self) -> Edit:
        one = next(self.published)
        calls, path = [act("unpublish", ARTICLE, one.id)], one.path()
        return Edit(
            "article unpublish", calls, [Listed(ARTICLE, path, 0)], {path: None}, *of(one, None)
        )

    def delete(self) -> Edit:
        one = next(self.published)
        calls, path = [act("delete", ARTICLE, one.id, locale="*")], one.path()
        return Edit(
            "article delete", calls, [Listed(ARTICLE, path, 0)], {path: None}, *of(one, None)
        )

    def parent(self, turn: int, page: str) -> Edit:
        document, before = self.pages[page], self.slugs.get(page, page)
        slug = self.slugs[page] = f"{page}-turn-{turn}"
        above = "" if page in ("page-0", "page-1") else "/page-2"
        # 13 pages below a root, four below its child; page 38 is a draft.
        below = 13 if not above else 3 if page == "page-11" else 4
        old, new = f"/en/p{above}/{before}", f"/en/p{above}/{slug}"
        calls = [act("update", PAGE, document, data={"slug": slug}), act("publish", PAGE, document)]
        listed = [
            Listed(PAGE, old, 0),
            Listed(PAGE, f"{old}/", 0, is_whole=False),
            Listed(PAGE, new, 1),
            Listed(PAGE, f"{new}/", below - 1, is_whole=False),
        ]
        return Edit(
            "page-tree parent", calls, listed, {old: None, new: document}, PAGE, document, new
        )

    def category_slug(self, turn: int, number: int) -> Edit:
        name = f"category-{number}"
        before, slug = self.slugs.get(name, name), f"{name}-turn-{turn}"
        self.slugs[name] = slug
        document, one = self.categories[name], self.of_category(number)
        count = self.dependents(number)
        calls = [
            act("update", CATEGORY, document, data={"slug": slug}),
            act("publish", CATEGORY, document),
        ]
        old, new = one.path(category=before), one.path(category=slug)
        listed = [
            Listed(CATEGORY, f"/en/c/{before}", 0),
            Listed(CATEGORY, f"/en/c/{slug}", 1),
            Listed(ARTICLE, f"/en/a/{before}/", 0, is_whole=False),
            Listed(ARTICLE, f"/en/a/{slug}/", count, is_whole=False),
        ]
        return Edit("category slug", calls, listed, {old: None, new: one.id}, *of(one, new))

    def category_status(self, action: str) -> Edit:
        is_published = action == "publish"
        name = f"category-{OF_STATUS}"
        one, count = self.of_category(OF_STATUS), self.dependents(OF_STATUS)
        calls, path = [act(action, CATEGORY, self.categories[name])], one.path()
        listed = [
            Listed(CATEGORY, f"/en/c/{name}", int(is_published)),
            Listed(ARTICLE, f"/en/a/{name}/", count if is_published else 0, is_whole=False),
        ]
        owner, shown = (one.id, path) if is_published else (None, None)
        return Edit(f"category {action}", calls, listed, {path: owner}, *of(one, shown))

    def category_delete(self) -> Edit:
        number = next(self.deletions)
        one, document = self.of_category(number), self.categories[f"category-{number}"]
        calls, path = [act("delete", CATEGORY, document, locale="*")], one.path()
        names = {"en": "category", "de": "kategorie", "fr": "categorie"}
        listed = [
            expected
            for locale, name in names.items()
            for expected in (
                Listed(CATEGORY, f"/{locale}/c/{name}-{number}", 0),
                Listed(ARTICLE, f"/{locale}/a/{name}-{number}/", 0, is_whole=False),
            )
        ]
        return Edit("category delete", calls, listed, {path: None}, *of(one, None))

    def of_category(self, number: int) -> Article:
        """A published article of a category."""
        return next(a for a in self.all_articles if a.category == number and a.is_published)

    def dependents(self, number: int) -> int:
        """The articles of a category that have a URL in English."""
        document = self.categories[f"category-{number}"]
        more = f"fields=slug&filters[category][documentId][$eq]={document}"
        rows = self.strapi.rows("articles", "en", more)
        return sum(1 for row in rows if segment(row["slug"]) is not None)


def act(action: str, uid: str, document: str, **more: object) -> Row:
    return {"uid": uid, "action": action, "documentId": document, "locale": "en"} | more


def of(article: Article, path: str | None) -> tuple[str, str, str | None]:
    return ARTICLE, article.id, path
