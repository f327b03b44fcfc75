"""Drafts of the fixture resolved by their paths and by their ids, compared with the oracle."""

import collections
import concurrent.futures
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from strapi.checks import Checks
from strapi.fixture import Oracle
from strapi.responses import AT_ONCE, Row, page_paths
from strapi.service import PAGE, SITES, Service

Owners = dict[tuple[str, str], set[tuple[str, str]]]


class Draft(NamedTuple):
    """One version; `path` is None where it has no URL."""

    site: str
    uid: str
    document: str
    locale: str
    path: str | None
    reason: str | None


def drafts(oracle: Oracle) -> Iterator[Draft]:
    """Of each site, the page tree of the third one included."""
    for site, rules in SITES.items():
        for uid, template in rules.items():
            for row in oracle.documents(uid, template):
                if row["status"] == "draft":
                    yield draft(site, uid, row)
    # The last segment of a page's path is its slug, which no other page has.
    pages = [row for row in oracle.documents(PAGE, "/{slug}") if row["status"] == "draft"]
    by_slug = {(row["locale"], row["path"][1:]): row for row in pages if "path" in row}
    for locale, path in page_paths(with_draft=True):
        row = by_slug[locale, path.rpartition("/")[2]]
        yield Draft("rich", PAGE, row["documentId"], locale, path, None)


def draft(site: str, uid: str, row: Row) -> Draft:
    reason = None if "path" in row else str(row["reason"])
    return Draft(site, uid, row["documentId"], row["locale"], row.get("path"), reason)


def check_drafts(checks: Checks, service: Service, oracle: Oracle) -> None:
    """Each draft of each site: by its path, and by its id, with the same response."""
    work = list(drafts(oracle))
    owners: Owners = collections.defaultdict(set)
    for one in work:
        if one.path is not None:
            owners[one.site, one.path].add((one.uid, one.document))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [pool.submit(check_draft, checks, service, one, owners) for one in work]
        for job in jobs:
            job.result()
    by_site = collections.Counter(one.site for one in work if one.path is not None)
    print(f"drafts resolved by path and by id: {dict(by_site)}", flush=True)


def check_draft(checks: Checks, service: Service, one: Draft, owners: Owners) -> None:
    name = f"draft {one.site} {one.uid} {one.document} {one.locale}"
    by_id = service.get(
        "/api/resolve",
        site=one.site,
        status="draft",
        uid=one.uid,
        documentId=one.document,
        locale=one.locale,
    )
    checks.equal(f"{name}: not stored", by_id.headers.get("cache-control"), "no-store")
    if one.path is None:
        reason = "no_version" if one.reason == "absent" else one.reason
        error = json.loads(by_id.body).get("error") or {}
        found = (by_id.status, (error.get("details") or {}).get("reason"))
        checks.equal(f"{name}: no URL", found, (404, reason))
        return
    checks.equal(f"{name}: by id", (by_id.status, facts(by_id.body)), (200, expected(one)))
    by_path = service.get("/api/resolve", site=one.site, status="draft", pathname=one.path)
    same_path = owners[one.site, one.path]
    if len(same_path) > 1:
        # The order of documents that share a path is checked elsewhere: one of them owns it.
        data = json.loads(by_path.body)["data"] or {}
        owner = (data.get("matched", {}).get("collectionType"), data.get("documentId"))
        checks.check(f"{name}: one of those with its path", owner in same_path, by_path.body)
        return
    checks.equal(f"{name}: by path", (by_path.status, facts(by_path.body)), (200, expected(one)))


def facts(body: str) -> Any:
    data = json.loads(body)["data"] or {}
    names = ("kind", "resolvedBy", "documentId", "canonicalPath", "isCanonical")
    return [data.get("matched", {}).get("collectionType"), *map(data.get, names)]


def expected(one: Draft) -> Any:
    return [one.uid, "document", "cms", one.document, one.path, True]
