"""The paths of a site with several hosts, pages outside the CMS and own paths of documents,
computed from the rows of Strapi's database by the rules of `docs/decisions.md` alone."""

import collections
import functools
import json
import re
import unicodedata
import urllib.parse
from collections.abc import Iterable
from typing import NamedTuple

from strapi.hosts import RULES, SITES, Links
from strapi.own_paths.content import HAVE_OWN_PATHS, Version
from strapi.service import BY_DOCUMENTS, HOMEPAGE, LOCALES, PRESS

# The content type of pages outside the CMS in responses.
PAGES = "pages"
FIELD = "customPath"
# The pages by name: their paths by locale, and whether sitemaps list them.
SITE_PAGES: dict[str, tuple[dict[str, str], bool]] = {
    "contact": ({"en": "/contact", "de": "/kontakt"}, True),
    "imprint": (dict.fromkeys(LOCALES, "/{locale}/imprint"), True),
    "help": (dict.fromkeys(LOCALES, "/help"), True),
    "search": (dict.fromkeys(LOCALES, "/search"), False),
    # The path of a document's template.
    "chronicle": ({"en": "/press/press-30"}, True),
}
Bases = dict[str, str]
Rules = dict[str, str]


class Config(NamedTuple):
    """What the sites differ in. The segments are by locale."""

    bases: Bases
    rules: Rules
    segments: dict[str, str]


PLAIN = {locale: locale for locale in LOCALES}
CONFIGS = {key: Config(bases, RULES, PLAIN) for key, bases in SITES.items()}
# With the locale in the paths of documents that are not localized, and one segment on two hosts.
CONFIGS["prefixed"] = Config(
    SITES["three"], RULES | {PRESS: "/{locale}/press/{slug}"}, PLAIN | {"de": "en"}
)


class Place(NamedTuple):
    """Where a version or a page is, or why it is nowhere. `document` is the name of a page."""

    uid: str
    document: str
    locale: str
    is_localized: bool
    is_own: bool
    is_listed: bool
    path: str
    reason: str = ""


def settings(strapi: str) -> str:
    lines = ["[cms]", f'url = "{strapi}"']
    for key, (bases, rules, segments) in CONFIGS.items():
        lines += ["[[site]]", f'key = "{key}"', f"front_end_url = {table(bases)}", BY_DOCUMENTS]
        codes = (f'{{ code = "{code}", segment = "{segments[code]}" }}' for code in LOCALES)
        locales = json.dumps(LOCALES) if segments == PLAIN else f"[{', '.join(codes)}]"
        lines += [f"locales = {locales}", 'trailing_slash = "always"']
        for uid, template in rules.items():
            lines += ["[[site.rule]]", f'content_type = "{uid}"', f'template = "{template}"']
            if uid in HAVE_OWN_PATHS:
                lines.append(f'path_field = "{FIELD}"')
        for name, (paths, is_listed) in SITE_PAGES.items():
            is_one = list(paths) == LOCALES and len(set(paths.values())) == 1
            path = json.dumps(paths["en"]) if is_one else table(paths)
            lines += ["[[site.page]]", f'name = "{name}"', f"path = {path}"]
            lines += [] if is_listed else ["sitemap = false"]
    lines += ["[[content_type]]", f'uid = "{HOMEPAGE}"', 'endpoint = "homepage"', 'kind = "single"']
    return "\n".join(lines) + "\n"


def table(texts: dict[str, str]) -> str:
    return "{ " + ", ".join(f'{locale} = "{text}"' for locale, text in texts.items()) + " }"


class Site:
    """One site, with the published versions or with the drafts of its documents."""

    def __init__(self, config: Config, versions: Iterable[Version]) -> None:
        bases, rules, segments = config
        self.bases, self.rules, self.segments = bases, rules, segments
        self.hosts = list(dict.fromkeys(bases.values()))
        self.pages = [
            Place(PAGES, name, locale, True, False, is_listed, self.slashed(path, locale))
            for name, (paths, is_listed) in SITE_PAGES.items()
            for locale, path in paths.items()
        ]
        taken = {(bases[page.locale], page.path) for page in self.pages}
        self.documents = []
        for version in versions:
            place = self.built(version)
            if (bases[place.locale], place.path) in taken:
                place = place._replace(path="", reason="path_taken_by_page")
            self.documents.append(place)
        # By type: the URLs with the version that owns each; and those in sitemaps with their links.
        self.owners = {uid: self.owners_of(uid) for uid in (*rules, PAGES)}
        self.links = {uid: self.links_of(uid) for uid in (*rules, PAGES)}

    def slashed(self, path: str, locale: str) -> str:
        path = path.replace("{locale}", self.segments[locale])
        return path if path == "/" else path + "/"

    def built(self, version: Version) -> Place:
        template = self.rules[version.uid]
        own = version.custom_path or ""
        is_own = own.strip() != ""
        if is_own:
            value = own.removeprefix("/")
            reason = fault(value, is_path=True)
            prefix = "/{locale}/" if "{locale}" in template else "/"
            path = prefix + "/".join(map(encode, value.split("/")))
        else:
            reason = fault(version.slug, is_path=False) if "{slug}" in template else ""
            path = template.replace("{slug}", encode(version.slug or ""))
        name = FIELD if is_own else "slug"
        place = Place(
            version.uid, version.document, version.locale, version.is_localized, is_own, True, ""
        )
        if reason:
            return place._replace(reason=f"{name}_{reason}")
        return place._replace(path=self.slashed(path, version.locale))

    def url(self, place: Place) -> str:
        return self.bases[place.locale] + place.path

    def owners_of(self, uid: str) -> dict[str, Place]:
        places = self.pages if uid == PAGES else self.documents
        found: dict[str, Place] = {}
        for place in sorted((place for place in places if place.uid == uid), key=rank):
            if place.path:
                found.setdefault(self.url(place), place)
        return found

    def links_of(self, uid: str) -> dict[str, Links]:
        """The hreflang links of docs/sitemaps.md."""
        own: dict[str, Links] = collections.defaultdict(dict)
        listed = {url: place for url, place in self.owners[uid].items() if place.is_listed}
        for url, place in listed.items():
            own[place.document][place.locale] = url
        return {url: with_default(own[place.document]) for url, place in listed.items()}

    @functools.cached_property
    def by_url(self) -> dict[str, Place]:
        """What each URL leads to: pages, then own paths, then those of templates, whose shapes
        differ here."""
        found = dict(self.owners[PAGES])
        for is_own in (True, False):
            for uid in self.rules:
                for url, place in self.owners[uid].items():
                    if place.is_own == is_own:
                        found.setdefault(url, place)
        return found

    @functools.cached_property
    def by_path(self) -> dict[str, str]:
        """The URL that each path leads to without a host."""
        found: dict[str, str] = {}
        for is_page in (True, False):
            for host in self.hosts:
                for url, place in self.by_url.items():
                    if url.startswith(host + "/") and (place.uid == PAGES) == is_page:
                        found.setdefault(place.path, url)
        return found


def host_of(base: str) -> str:
    return urllib.parse.urlsplit(base).netloc


def with_default(links: Links) -> Links:
    first = next(links[locale] for locale in LOCALES if locale in links)
    return links | {"x-default": first} if len(links) > 1 else {}


def rank(place: Place) -> tuple[bool, int, str]:
    """The first one owns a path (D22, D41)."""
    return (not place.is_own, LOCALES.index(place.locale), place.document)


def encode(text: str) -> str:
    return urllib.parse.quote(text, safe="-._~")


def fault(value: str | None, is_path: bool) -> str:
    """The word of D13 for a value that is unusable; a path may have several segments."""
    if value is None:
        return "missing"
    if found := raw_fault(value, is_path):
        return found
    once = decode(value)
    is_unsafe = any(text != value and raw_fault(text, is_path) for text in (once, decode(once)))
    return "unsafe_after_decoding" if is_unsafe else ""


def raw_fault(value: str, is_path: bool) -> str:
    segments = value.split("/")
    faults = {
        "empty": value.strip() == "",
        "control_char": any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in value),
        "backslash": "\\" in value,
        "has_slash": not is_path and len(segments) > 1,
        "empty_segment": "" in segments[:-1],
        "ends_with_slash": "" in segments,
        "dot_segment": not {".", ".."}.isdisjoint(segments),
    }
    return next((name for name, has_it in faults.items() if has_it), "")


def decode(text: str) -> str:
    """Runs of escapes that are UTF-8."""

    def run(found: re.Match[str]) -> str:
        try:
            return urllib.parse.unquote(found[0], errors="strict")
        except UnicodeDecodeError:
            return found[0]

    return re.sub("(%[0-9a-fA-F]{2})+", run, text)
