"""`/api/pages` and `/api/problems` of a service in front of the fixture, compared by row."""

import collections
import json
import re
import urllib.parse
from typing import Any

from strapi.checks import Checks
from strapi.fixture import Oracle
from strapi.service import BASE, LOCALES, Service

Row = dict[str, Any]
# The most rows of a kind that are listed for a content type.
MOST = 10_000
TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def check_tables(
    checks: Checks, service: Service, oracle: Oracle, site: str, rules: dict[str, str]
) -> None:
    """All pages and problems of a site whose content types have one rule each."""
    versions = {uid: published(oracle, uid, template) for uid, template in rules.items()}
    pages, last = lines(checks, service, "/api/pages", site)
    checks.equal(f"pages {site}: last line", last, {"count": len(pages)})
    expected = [row for uid in rules for row in expected_pages(uid, rules[uid], versions[uid])]
    check_rows(checks, f"pages {site}", pages, expected)
    problems, last = lines(checks, service, "/api/problems", site)
    found = [row for row in problems if row["kind"] == "no_url"]
    by_type = [expected_no_url(uid, rules[uid], versions[uid]) for uid in rules]
    check_rows(checks, f"problems {site}", found, [row for own in by_type for row in own[:MOST]])
    left_out = sum(len(own[MOST:]) for own in by_type)
    figures = {"count": len(problems) + left_out, "truncated": left_out > 0}
    checks.equal(f"problems {site}: last line", last, figures)
    shared = {row["path"]: row for row in problems if row["kind"] == "shared_path"}
    check_shared(checks, f"shared paths {site}", shared, versions, pages)


def lines(checks: Checks, service: Service, path: str, site: str) -> tuple[list[Row], Row]:
    """The rows of a table, and the last line, which has the figures."""
    response = service.get(path, {"Accept": "application/x-ndjson"}, site=site)
    checks.equal(f"{path} {site}: status", response.status, 200)
    rows: list[Row] = [json.loads(line) for line in response.body.splitlines()]
    last = rows.pop() if rows else {}
    return rows, last


def published(oracle: Oracle, uid: str, template: str) -> list[Row]:
    """Each published version once; the oracle has one that is not localized for every locale."""
    rows = oracle.documents(uid, template)
    rows = [row for row in rows if row["status"] == "published" and row.get("reason") != "absent"]
    localized = {row["locale"] for row in rows if row["locale"] != LOCALES[0]}
    if localized and uid == "plugin::cms.press-release":
        return [row for row in rows if row["locale"] == LOCALES[0]]
    return rows


def rank(row: Row) -> tuple[int, str]:
    """The order of locales, then of ids: the first version with a path owns it."""
    return (LOCALES.index(row["locale"]), row["documentId"])


def expected_pages(uid: str, template: str, versions: list[Row]) -> list[Row]:
    owners: dict[str, Row] = {}
    for row in sorted((row for row in versions if "path" in row), key=rank):
        owners.setdefault(row["path"], row)
    ordered = sorted(owners.values(), key=lambda row: (LOCALES.index(row["locale"]), row["path"]))
    return [
        {
            "path": row["path"],
            "url": BASE + row["path"],
            "locale": row["locale"],
            "contentType": uid,
            "documentId": row["documentId"],
            "rule": template,
            "params": params(template, row),
            "listed": True,
        }
        for row in ordered
    ]


def params(template: str, row: Row) -> dict[str, str]:
    """The values of the placeholders, each of which is a whole segment."""
    pairs = zip(template.split("/"), row["path"].split("/"), strict=True)
    values = {
        name[1:-1]: urllib.parse.unquote(text) for name, text in pairs if name.startswith("{")
    }
    return {"locale": row["locale"]} | values


def expected_no_url(uid: str, template: str, versions: list[Row]) -> list[Row]:
    rows = sorted((row for row in versions if "reason" in row), key=rank)
    return [
        {
            "kind": "no_url",
            "contentType": uid,
            "documentId": row["documentId"],
            "locale": row["locale"],
            "reason": row["reason"],
            "rule": template,
        }
        for row in rows
    ]


def check_rows(checks: Checks, name: str, found: list[Row], expected: list[Row]) -> None:
    print(f"{name}: {len(found)} rows", flush=True)
    checks.equal(f"{name}: count", len(found), len(expected))
    for row, wanted in zip(found, expected, strict=False):
        if "path" in row:
            date = row.pop("lastModified", "")
            checks.check(f"{name}: lastModified", TIME.fullmatch(date or ""), row)
        checks.equal(name, row, wanted)


def check_shared(
    checks: Checks,
    name: str,
    shared: dict[str, Row],
    versions: dict[str, list[Row]],
    pages: list[Row],
) -> None:
    """Each path of several documents, with all their versions; its owner is a row of the pages."""
    by_path: dict[str, set[tuple[str, str, str]]] = collections.defaultdict(set)
    for uid, rows in versions.items():
        for row in (row for row in rows if "path" in row):
            by_path[row["path"]].add((uid, row["documentId"], row["locale"]))
    expected = {
        path: own
        for path, own in by_path.items()
        if len({(uid, document) for uid, document, _ in own}) > 1
    }
    checks.equal(f"{name}: paths", sorted(shared), sorted(expected))
    owners = {(row["path"], row["contentType"]): row["documentId"] for row in pages}
    for path, row in shared.items():
        owner, others = row["owner"], row["others"]
        found = [(v["contentType"], v["documentId"], v["locale"]) for v in [owner, *others]]
        checks.equal(f"{name}: each once", len(found), len(set(found)))
        checks.equal(f"{name}: versions of {path}", set(found), expected.get(path))
        owns = owners.get((path, owner["contentType"]))
        checks.equal(f"{name}: owner of {path}", owner["documentId"], owns)
    print(f"{name}: {len(shared)}", flush=True)
