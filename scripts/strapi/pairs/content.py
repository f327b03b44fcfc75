"""What editors make of one pair: documents with clashing paths, redirects, and a draft."""

import random
import urllib.parse
from typing import Any, NamedTuple

from strapi.admins import Admin
from strapi.live import Live
from strapi.service import ARTICLE, BASE, CATEGORY, LANDING, PAGE, PRESS

SITE, LOCALES = "pairs", ("en", "de")
REDIRECT = "api::redirect.redirect"
# Where the REST API has them, the field with the name of the pair, and what their paths read.
TYPES = {
    CATEGORY: ("categories", "name", ""),
    ARTICLE: ("articles", "title", "&populate[category][fields][0]=slug"),
    PAGE: ("pages", "title", "&populate[parent][populate][parent][populate][parent][fields]=slug"),
    LANDING: ("cms/landings", "title", ""),
    PRESS: ("cms/press-releases", "title", ""),
}
RELATIONS = {ARTICLE: "category", PAGE: "parent"}
TARGETS = {ARTICLE: CATEGORY, PAGE: PAGE}
LETTERS = "abcd"
# More than the rows of a list.
MANY = 12
# Outside the site.
OTHER = "other.example"


def settings(strapi: str) -> str:
    rules = {
        CATEGORY: 'template = "/{locale}/{slug}"',
        LANDING: 'template = "/{locale}/{slug}"\npath_field = "customPath"',
        ARTICLE: 'template = "/{locale}/{category.slug}/{slug}"',
        PAGE: 'template = "/{locale}/pages/{*path}"\n'
        'params.path = { field = "slug", ancestors = "parent" }',
        PRESS: 'template = "/press/{slug}"',
    }
    head = f"""
[cms]
url = "{strapi}"
[[site]]
key = "{SITE}"
front_end_url = "{BASE}"
locales = ["en", "de"]
resolve = "documents"
redirect_hosts = ["{OTHER}"]
[[site.redirects]]
content_type = "{REDIRECT}"
from = "from"
to = "to"
document = "target"
status = "code"
force = "force"
"""
    own = (f'[[site.rule]]\ncontent_type = "{uid}"\n{rule}\n' for uid, rule in rules.items())
    return head + "".join(own)


class Version(NamedTuple):
    """One that is not localized has the first locale of the site."""

    uid: str
    document: str
    locale: str


Paths = dict[Version, str | None]


class World:
    """The documents of one pair. Their slugs and titles begin with its name."""

    def __init__(self, live: Live, admin: Admin, chosen: random.Random, name: str) -> None:
        self.live, self.admin, self.random, self.name = live, admin, chosen, name
        self.versions: list[Version] = []
        self.slugs: set[str] = set()
        # By their `documentId`: the path, and whether it comes before a live page.
        self.redirects: dict[str, tuple[str, bool]] = {}

    def act(self, uid: str, action: str, **more: object) -> Any:
        return self.live.post("/api/lab/action", {"uid": uid, "action": action} | more)

    def likely(self, probability: float) -> bool:
        return self.random.random() < probability

    def create(
        self, uid: str, data: dict[str, Any], published: float = 1, locales: float = 0
    ) -> str:
        """A document. `published` and `locales` are the probabilities of a click and a locale."""
        data = {TYPES[uid][1]: f"{self.name} {len(self.versions)}"} | data
        document: str | None = None
        for locale in LOCALES if uid != PRESS and self.likely(locales) else LOCALES[:1]:
            more: dict[str, object] = {} if uid == PRESS else {"locale": locale}
            if self.likely(published):
                more["status"] = "published"
            data = self.in_locale(uid, data, locale)
            if document is None:
                document = self.act(uid, "create", data=data, **more)["documentId"]
            else:
                self.act(uid, "update", documentId=document, data=data, **more)
            self.versions.append(Version(uid, document, locale))
        return str(document)

    def save(self, version: Version, **data: object) -> None:
        """Saves a draft."""
        more = {} if version.uid == PRESS else {"locale": version.locale}
        self.act(version.uid, "update", documentId=version.document, data=data, **more)

    def of_type(self, uid: str, locale: str | None = None) -> list[str]:
        """The documents of a type, of those with a version in a locale if one is named."""
        own = (version for version in self.versions if version.uid == uid)
        return sorted({version.document for version in own if locale in (None, version.locale)})

    def in_locale(self, uid: str, data: dict[str, Any], locale: str) -> dict[str, Any]:
        """Strapi refuses a relation to a document that does not have the locale."""
        if not (name := RELATIONS.get(uid)):
            return data
        known = self.of_type(TARGETS[uid], locale)
        return data if data.get(name) in known else data | {name: None}

    def slug(self) -> str:
        return f"{self.name}-{self.random.choice(LETTERS)}"

    def categories(self, published: float = 1, locales: float = 0) -> list[str]:
        # No two categories have one slug.
        self.slugs = {f"{self.name}-{letter}" for letter in self.random.sample(LETTERS, 2)}
        slugs = self.random.sample(sorted(self.slugs), 2)
        return [self.create(CATEGORY, {"slug": slug}, published, locales) for slug in slugs]

    def build(self) -> None:
        """Documents of all types, some of which are drafts."""
        categories = self.categories(0.85, 0.4)
        for _ in range(self.random.randrange(4)):
            category = None if self.likely(0.05) else self.random.choice(categories)
            data = {"slug": self.random.choice(LETTERS), "category": category}
            self.create(ARTICLE, data, 0.8, 0.4)
        pages: list[str] = []
        for at in range(self.random.randrange(4)):
            parent = self.random.choice(pages) if pages and self.likely(0.8) else None
            pages.append(self.create(PAGE, {"slug": self.page(at), "parent": parent}, 0.75, 0.4))
        for _ in range(self.random.randrange(3)):
            data = {
                "slug": self.slug(),
                "customPath": self.own_path() if self.likely(0.3) else None,
            }
            self.create(LANDING, data, 0.8, 0.4)
        for _ in range(self.random.randrange(3)):
            self.create(PRESS, {"slug": self.slug()}, 0.8)

    def page(self, at: int) -> str:
        return f"{self.name}-p{at}"

    def own_path(self) -> str:
        """One that another document may have, without its locale."""
        letter = self.random.choice(LETTERS)
        return self.random.choice(
            [f"{self.slug()}/{letter}", self.slug(), f"pages/{self.name}-p0", f"{self.slug()}/s01"]
        )

    def redirect(self, start: str, paths: list[str], force: float = 0.5) -> None:
        """From a path to somewhere, or to nowhere, because the page is gone."""
        if start in [known for known, _ in self.redirects.values()]:
            return
        articles = self.of_type(ARTICLE)
        targets: list[dict[str, Any]] = [
            {"to": "/elsewhere"},
            {"to": f"https://{OTHER}/x?a=b"},
            {"to": self.random.choice(paths or ["/en/none"])},
            {"target": self.random.choice(articles)} if articles else {"to": "/other"},
        ]
        is_forced = self.likely(force)
        target = {"code": 410} if self.likely(0.2) else self.random.choice(targets)
        data = {"from": start, "force": is_forced} | target
        made = self.act(REDIRECT, "create", data=data, status="published")
        self.redirects[made["documentId"]] = (start, is_forced)

    def change(self, version: Version, paths: list[str]) -> None:
        """Saves a draft, in most cases with another path than the published version."""
        uid, slug = version.uid, self.slug()
        if uid == ARTICLE and self.likely(0.5):
            category = self.random.choice([*self.of_type(CATEGORY, version.locale), None])
            self.save(version, category=category)
        elif uid == ARTICLE:
            self.save(version, slug=self.random.choice([*LETTERS, "x/y", ""]))
        elif uid == PAGE and self.likely(0.5):
            pages = self.of_type(PAGE, version.locale)
            others = [own for own in pages if own != version.document]
            self.save(version, parent=self.random.choice([*others, None]))
        elif uid == PAGE:
            self.save(version, slug=self.page(self.random.randrange(5, 9)))
        elif uid == CATEGORY:
            # A landing page may have the slug of a category.
            free = f"{self.name}-{self.random.choice('efg')}"
            self.save(version, slug=self.random.choice([free, *self.slugs_of_landings(paths)]))
        elif uid == LANDING and self.likely(0.5):
            starts = [start for start, _ in self.redirects.values()]
            known = self.random.choice([*paths, *starts, "/en/none"])
            own = known.removeprefix(f"/{version.locale}/")
            self.save(version, customPath=None if own == known else own)
        else:
            self.save(version, slug=slug)

    def slugs_of_landings(self, paths: list[str]) -> list[str]:
        """The slugs at the ends of short paths that no category of this pair has."""
        own = {path.rpartition("/")[2] for path in paths if path.count("/") == 2}
        return sorted(one for one in own - self.slugs if one.startswith(f"{self.name}-"))

    def rows(self, uid: str, locale: str, status: str = "published") -> list[dict[str, Any]]:
        endpoint, field, more = TYPES[uid]
        of_locale = "" if uid == PRESS else f"&locale={locale}"
        named = urllib.parse.quote(f"{self.name} ")
        query = f"filters[{field}][$startsWith]={named}&status={status}&pagination[pageSize]=100"
        return self.live.read(f"/api/{endpoint}?{query}{of_locale}{more}")

    def paths(self) -> Paths:
        """The path that the published versions have, by what Strapi's REST API returns."""
        found: Paths = dict.fromkeys(self.versions)
        for uid in {version.uid for version in self.versions}:
            for locale in LOCALES[:1] if uid == PRESS else LOCALES:
                for row in self.rows(uid, locale):
                    found[Version(uid, row["documentId"], locale)] = path_of(uid, row, locale)
        return found

    def targets(self) -> list[dict[str, Any]]:
        """The published redirects, each with the document that it leads to."""
        ids = "".join(f"&filters[documentId][$in]={document}" for document in self.redirects)
        query = "populate[target][fields][0]=slug&status=published"
        return self.live.read(f"/api/redirects?{query}{ids}")

    def related(self, version: Version, status: str) -> str | None:
        """The document behind the relation of a version."""
        if version.uid not in RELATIONS:
            return None
        rows = self.rows(version.uid, version.locale, status)
        own = (row for row in rows if row["documentId"] == version.document)
        target = next(own, {}).get(RELATIONS[version.uid]) or {}
        found: str | None = target.get("documentId")
        return found

    def is_published(self, version: Version) -> bool:
        rows = self.rows(version.uid, version.locale)
        return any(row["documentId"] == version.document for row in rows)

    def click(self, version: Version, action: str) -> None:
        """What the buttons of Strapi's admin panel request."""
        path = f"/content-manager/collection-types/{version.uid}/{version.document}"
        locale = None if version.uid == PRESS else version.locale
        if action == "delete":
            status, found = self.admin.call("DELETE", f"{path}?locale=*")
        else:
            body = {"locale": locale} if locale else {}
            status, found = self.admin.call("POST", f"{path}/actions/{action}", body)
        if not 200 <= status < 300:
            raise SystemExit(f"{action} {version}: {status} {found}")


def path_of(uid: str, row: dict[str, Any], locale: str) -> str | None:
    slug, category = row["slug"], row.get("category")
    if uid == LANDING and row["customPath"]:
        return f"/{locale}/{row['customPath']}"
    if not slug or "/" in slug:
        return None
    if uid == ARTICLE:
        return f"/{locale}/{category['slug']}/{slug}" if category else None
    if uid == PAGE:
        slugs, seen, parent = [slug], {row["documentId"]}, row.get("parent")
        while parent:
            if parent["documentId"] in seen:
                return None
            seen.add(parent["documentId"])
            slugs.insert(0, parent["slug"])
            parent = parent.get("parent")
        return f"/{locale}/pages/{'/'.join(slugs)}"
    return f"/press/{slug}" if uid == PRESS else f"/{locale}/{slug}"
