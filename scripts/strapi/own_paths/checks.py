"""Sites with several hosts, slashes at the end, pages outside the CMS and own paths of documents:
each response of the service, compared with what the rows of Strapi's database say."""

import concurrent.futures
import functools
import json
import pathlib
from collections.abc import Callable
from typing import Any

from common.client import until
from strapi.checks import Checks
from strapi.fixture import FULL_TOKEN
from strapi.hosts import check_lists_and_files
from strapi.live import Live
from strapi.own_paths.content import HAVE_OWN_PATHS, Version, read
from strapi.own_paths.edits import check_edits
from strapi.own_paths.oracle import (
    CONFIGS,
    PAGES,
    Place,
    Site,
    encode,
    host_of,
    settings,
)
from strapi.responses import AT_ONCE
from strapi.service import LOCALES, Response, Service

Row = dict[str, Any]


def check_own_paths(
    checks: Checks,
    strapi: str,
    database: pathlib.Path,
    start: Callable[[str], Service],
) -> None:
    """`start` is given the text of the settings, and Strapi's webhook leads to the service."""
    versions = read(database)
    service = start(settings(strapi))
    for site in CONFIGS:
        Checked(checks, service, site, versions).check()
    check_edits(Live(checks, service, strapi, FULL_TOKEN), versions)
    checks.equal("own paths: ends with status 0", service.stop(), 0)


class Checked:
    """One site of a service; `published` and `drafts` say what it should return."""

    def __init__(self, checks: Checks, service: Service, key: str, versions: list[Version]) -> None:
        self.checks, self.service, self.key = checks, service, key
        config, self.versions = CONFIGS[key], versions
        self.rules, self.segments = config.rules, config.segments
        self.published = Site(config, [one for one in versions if one.is_published])
        self.drafts = Site(config, [one for one in versions if not one.is_published])

    def get(self, operation: str, **params: str) -> Response:
        return self.service.get(f"/api/{operation}", None, site=self.key, **params)

    def data(self, operation: str, **params: str) -> Row:
        found: Row = json.loads(self.get(operation, **params).body)["data"] or {}
        return found

    def equal(self, name: str, found: object, expected: object) -> None:
        self.checks.equal(f"own paths {self.key}: {name}", found, expected)

    def wait_until_known(self) -> None:
        """Each type with a path field could own a path that no rule matches; the others are known
        by their templates."""
        until(lambda: self.get("resolve", pathname="/x/y/z/w").status == 404)
        for template in self.rules.values():
            path = template.replace("{locale}", "en").replace("{slug}", "x")
            until(functools.partial(self.is_known, path))

    def is_known(self, path: str) -> bool:
        return self.get("resolve", pathname=path).status == 200

    def check(self) -> None:
        self.wait_until_known()
        published = self.published
        expected = {uid: published.links[uid] for uid in (*self.rules, PAGES)}
        check_lists_and_files(self.checks, self.service, self.key, published.bases, expected)
        self.check_table()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = [pool.submit(self.check_url, url) for url in published.by_url]
            jobs += [pool.submit(self.check_path, path) for path in published.by_path]
            for status, site in (("published", published), ("draft", self.drafts)):
                jobs += [
                    pool.submit(self.check_document, status, place)
                    for place in site.documents
                    if place.uid in HAVE_OWN_PATHS
                ]
            jobs += [pool.submit(self.check_draft, url) for url in self.drafts.by_url]
            for job in jobs:
                job.result()
        self.check_batch()
        self.check_other_paths()
        own = [place for place in published.by_url.values() if place.is_own]
        print(f"own paths {self.key}: {len(own)} of {len(published.by_url)} URLs", flush=True)
        self.checks.check(
            f"own paths {self.key}: some of each type", len({p.uid for p in own}) == 2
        )

    def check_table(self) -> None:
        """The rows of `/api/pages`, with the page that sitemaps leave out if that is requested."""
        for unlisted in ("false", "true"):
            found = self.data("pages", unlisted=unlisted)["pages"]
            for row in found:
                row.pop("lastModified")
                if row.get("rule") and not self.is_own(row["url"], row["contentType"]):
                    row.pop("params")
            rows = [
                expected_row(self.published, url, place)
                for uid in (*self.rules, PAGES)
                for url, place in self.published.owners[uid].items()
                if place.is_listed or unlisted == "true"
            ]
            order = [*self.rules, None]
            rows.sort(
                key=lambda row: (
                    order.index(row.get("contentType")),
                    LOCALES.index(row["locale"]),
                    row["path"],
                )
            )
            self.equal(f"rows, unlisted={unlisted}: count", len(found), len(rows))
            for one, expected in zip(found, rows, strict=False):
                self.equal(f"rows, unlisted={unlisted}", one, expected)

    def is_own(self, url: str, uid: str) -> bool:
        place = self.published.owners[uid].get(url)
        return place is not None and place.is_own

    def check_url(self, url: str) -> None:
        """By its host: the page or the document that owns it; both operations name its rule."""
        place = self.published.by_url[url]
        params = {"pathname": place.path, "host": host_of(self.published.bases[place.locale])}
        found = self.data("resolve", **params)
        self.check_owner(f"{url} by its host", found, url, place)
        if place.uid == PAGES:
            return
        links = self.published.links[place.uid][url] or {place.locale: url, "x-default": url}
        self.equal(f"{url}: alternates", found.get("alternates"), links)
        if place.is_own:
            matched = self.data("get-content-type", **params)
            expected = {
                "collectionType": place.uid,
                "rule": self.rules[place.uid],
                "params": {"locale": place.locale},
            }
            self.equal(f"{url}: content type", matched.get("matched"), expected)
            self.equal(f"{url}: resolved", found.get("matched"), expected)

    def check_path(self, path: str) -> None:
        """Without a host."""
        url = self.published.by_path[path]
        place = self.published.by_url[url]
        self.check_owner(f"{path} without a host", self.data("resolve", pathname=path), url, place)

    def check_owner(self, name: str, found: Row, url: str, place: Place) -> None:
        is_page = place.uid == PAGES
        result = [found.get(member) for member in ("kind", "canonicalUrl", "isCanonical")]
        self.equal(name, result, ["page" if is_page else "document", url, True])
        matched = found.get("matched") or {}
        owner = (matched.get("collectionType"), found.get("page" if is_page else "documentId"))
        self.equal(f"{name}: owner", owner, (None if is_page else place.uid, place.document))
        if is_page or "{locale}" in self.rules[place.uid]:
            self.equal(f"{name}: locale", found.get("locale"), place.locale)

    def check_document(self, status: str, place: Place) -> None:
        """Its URL, or why it has none; with an own path, that of the template is not its path."""
        name = f"{status} {place.uid} {place.document} {place.locale}"
        params = {"uid": place.uid, "documentId": place.document, "locale": place.locale}
        found = json.loads(self.get("frontend-url", status=status, **params).body)
        site = self.published if status == "published" else self.drafts
        if place.path:
            wanted = {"url": site.url(place), "path": place.path}
            self.equal(name, found["data"], wanted)
            by_id = self.data("resolve", status=status, **params)
            self.check_owner(f"{name} by its id", by_id, site.url(place), place)
        else:
            details = {"reason": place.reason, "rule": self.rules[place.uid]}
            self.equal(name, found.get("error", {}).get("details"), details)

    def check_draft(self, url: str) -> None:
        """Each URL of drafts by its path. A document of another type may build the same path."""
        place = self.drafts.by_url[url]
        if place.uid not in HAVE_OWN_PATHS:
            return
        host = host_of(self.drafts.bases[place.locale])
        found = self.data("resolve", status="draft", pathname=place.path, host=host)
        self.check_owner(f"draft {url}", found, url, place)

    def check_batch(self) -> None:
        places = [place for place in self.published.documents if place.uid in HAVE_OWN_PATHS]
        documents = [
            {"uid": place.uid, "documentId": place.document, "locale": place.locale}
            for place in places
        ]
        response = self.service.post("/api/frontend-urls", {"documents": documents}, site=self.key)
        results = json.loads(response.body)["data"]["results"]
        for place, document, found in zip(places, documents, results, strict=True):
            more = (
                {"url": self.published.url(place), "path": place.path}
                if place.path
                else {"reason": place.reason, "rule": self.rules[place.uid]}
            )
            # Owners of shared paths are those of `owners`.
            found.pop("sharedPath", None)
            self.equal(f"batch {place.document}", found, document | more)

    def check_other_paths(self) -> None:
        """The paths that templates would build for documents with own paths."""
        for version in self.versions:
            if not (version.is_published and (version.custom_path or "").strip()):
                continue
            path = self.published.slashed(self.rules[version.uid], version.locale)
            path = path.replace("{slug}", encode(version.slug or ""))
            base = self.published.bases[version.locale]
            if base + path not in self.published.by_url:
                found = self.data("resolve", pathname=path, host=host_of(base))
                self.equal(f"{path} of the template", found.get("kind"), "none")
        for status, site in (("published", self.published), ("draft", self.drafts)):
            self.check_other_locales(status, site)

    def check_other_locales(self, status: str, site: Site) -> None:
        """Own paths of documents that are not localized, with the other locales, on their hosts."""
        for url, place in site.by_url.items():
            if not place.is_own or place.is_localized:
                continue
            for locale in LOCALES[1:]:
                path = place.path
                if "{locale}" in self.rules[place.uid]:
                    old, new = (self.segments[code] for code in (place.locale, locale))
                    path = path.replace(f"/{old}/", f"/{new}/", 1)
                base = site.bases[locale]
                if any(base + path in one.by_url for one in (self.published, self.drafts)):
                    continue
                found = self.data("resolve", status=status, pathname=path, host=host_of(base))
                result = [found.get(name) for name in ("kind", "canonicalUrl", "isCanonical")]
                self.equal(f"{status} {path} on {base}", result, ["document", url, False])


def expected_row(site: Site, url: str, place: Place) -> Row:
    common = {"path": place.path, "url": url, "locale": place.locale, "listed": place.is_listed}
    if place.uid == PAGES:
        return common | {"page": place.document}
    own = {"params": {"locale": place.locale}} if place.is_own else {}
    named = {"contentType": place.uid, "documentId": place.document, "rule": site.rules[place.uid]}
    return common | named | own
