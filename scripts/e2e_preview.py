#!/usr/bin/env python3
"""Runs the handler of docs/preview.md in a real Strapi 5 and requests previews as its panel does.

Strapi's own `GET /content-manager/preview/url/:uid` is requested by an admin with all permissions
and by one that may read one content type: every article of the plan in two locales as `published`,
`draft` and `modified`, types without localization and of a single document, a type without a rule,
a site without a base URL, and a service that refuses the token, is stopped, or is frozen.

Then what `/api/publish-preview` announces is compared with what happens: --pairs random worlds with
clashing paths, relations in paths, several locales and redirects of the CMS, each with a draft that
is published, unpublished or deleted as Strapi's admin panel does it. --seed and --first repeat one.

The Strapi is the fixture `tests/strapi`, as in `e2e_strapi.py`. Ends with `N passed, N failed`, and
status 0 if none failed.
"""

import argparse
import contextlib
import pathlib
import signal
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable

from common.build import BINARY
from common.client import free_port, get
from common.service import Service
from strapi import service as lab
from strapi.admins import Admin, Preview, editor_of, super_admin
from strapi.checks import Checks
from strapi.fixture import CANNOT_SET_UP, FULL_TOKEN, READ_TOKEN, Oracle, running
from strapi.live import HOOK_SECRET, Live
from strapi.pairs import content as pairs_content
from strapi.pairs.checks import check_pairs

# One of each class of the plan.
ARTICLES = 50
PAIRS, SEED = 30, 33
LOCALES = ("en", "de")
# With a path, below which the frontend has its route for previews.
BASE = "https://www.example.com/shop"
DRAFT_TOKEN, SECRET = "canary-of-the-draft-token", "s&cret of the frontend"
ARTICLE, PRESS = "api::article.article", "plugin::cms.press-release"
HOMEPAGE, LANDING = "api::homepage.homepage", "plugin::cms.landing"
TEMPLATES = {ARTICLE: "/{locale}/articles/{slug}", PRESS: "/press/{slug}", HOMEPAGE: "/{locale}"}
RULE = '[[site.rule]]\ncontent_type = "{}"\ntemplate = "{}"'
RULES = "\n".join(RULE.format(uid, template) for uid, template in TEMPLATES.items())
SETTINGS = f"""
[cms]
url = "STRAPI"
[[content_type]]
uid = "{HOMEPAGE}"
endpoint = "homepage"
kind = "single"
[[site]]
key = "main"
front_end_url = "{BASE}"
locales = ["en", "de", "fr"]
{RULES}
[[site]]
key = "without-base-url"
locales = ["en", "de", "fr"]
[[site.rule]]
content_type = "{LANDING}"
template = "/{{locale}}/landings/{{slug}}"
"""
NO_BUTTON = Preview(204, None)
FAILED = Preview(400, "Failed to get preview URL")


def link(path: str, version: str) -> Preview:
    """The live page, or the frontend's route for previews."""
    if version == "published":
        return Preview(200, BASE + path)
    query = urllib.parse.urlencode({"secret": SECRET, "path": path})
    return Preview(200, f"{BASE}/api/preview?{query}")


def run(checks: Checks, admin: Admin, start: Callable[[str], Service]) -> None:
    oracle = Oracle(ARTICLES, BASE)
    editor = editor_of(admin, PRESS, ["title", "slug"])
    with start(DRAFT_TOKEN) as service:
        check_documents(checks, admin, oracle)
        check_other_types(checks, admin, oracle)
        check_permissions(checks, admin, editor, oracle)
        refused = get(service.address, f"/api/frontend-url?uid={ARTICLE}&documentId=a&status=draft")
        checks.equal("the service asks for the draft token", refused.status, 401)
    document = oracle.first(ARTICLE, TEMPLATES[ARTICLE])
    with start("another-token") as service:
        check_refused_token(checks, admin, document["documentId"], document["path"])
        service.signal(signal.SIGSTOP)
        check_failure(checks, "frozen", admin, document["documentId"])
    check_failure(checks, "stopped", admin, document["documentId"])


def check_documents(checks: Checks, admin: Admin, oracle: Oracle) -> None:
    """Each article of the plan in two locales, as each status that the panel has."""
    versions = {
        (row["documentId"], row["locale"], row["status"]): row.get("path")
        for row in oracle.documents(ARTICLE, TEMPLATES[ARTICLE])
        if row["locale"] in LOCALES
    }
    documents = sorted({(document, locale) for document, locale, _ in versions})
    seen = {"linked": 0, "modified": 0, "no button": 0}
    for document, locale in documents:
        for status in ("published", "draft", "modified"):
            version = "published" if status == "published" else "draft"
            path = versions.get((document, locale, version))
            expected = link(path, version) if path else NO_BUTTON
            found = admin.preview(ARTICLE, documentId=document, locale=locale, status=status)
            checks.equal(f"article, {status}: {document} {locale}", found, expected)
            published = versions.get((document, locale, "published"))
            seen["linked" if path else "no button"] += 1
            seen["modified"] += bool(path and published and path != published)
    for kind, count in seen.items():
        checks.check(f"articles: {kind}", count, seen)
    print(f"articles: {seen}", flush=True)


def check_other_types(checks: Checks, admin: Admin, oracle: Oracle) -> None:
    press = oracle.first(PRESS, TEMPLATES[PRESS])
    for status in ("published", "draft"):
        expected = link(press["path"], status)
        # The panel sends no locale for a type that is not localized.
        query = {"documentId": press["documentId"], "status": status}
        for more in ({}, {"locale": ""}):
            found = admin.preview(PRESS, **query, **more)
            checks.equal(f"not localized, {status}, {more}", found, expected)
        # It sends no document for a single type: Strapi itself adds it.
        for locale in LOCALES:
            found = admin.preview(HOMEPAGE, locale=locale, status=status)
            checks.equal(f"single type, {status}, {locale}", found, link(f"/{locale}", status))
    category = oracle.first("api::category.category", "/{slug}")["documentId"]
    found = admin.preview("api::category.category", documentId=category, status="published")
    checks.equal("a type without a rule", found, NO_BUTTON)
    landing = oracle.first(LANDING, "/{slug}")["documentId"]
    found = admin.preview(LANDING, documentId=landing, locale="en", status="published")
    checks.equal("a site without a base URL", found, NO_BUTTON)
    found = admin.preview(ARTICLE, documentId="d" * 24, locale="en", status="draft")
    checks.equal("a document that does not exist", found, NO_BUTTON)


def check_permissions(checks: Checks, admin: Admin, editor: Admin, oracle: Oracle) -> None:
    """Strapi lets each admin ask about each type, so the handler decides: a 204, not a 403."""
    rows = {uid: oracle.first(uid, TEMPLATES[uid]) for uid in (ARTICLE, PRESS)}
    for uid, row in rows.items():
        query = {"documentId": row["documentId"], "locale": "en", "status": "draft"}
        expected = link(row["path"], "draft")
        checks.equal(f"permissions: {uid}, all", admin.preview(uid, **query), expected)
        mine = expected if uid == PRESS else NO_BUTTON
        checks.equal(f"permissions: {uid}, {PRESS} only", editor.preview(uid, **query), mine)
        visitor = Admin(admin.strapi, "").preview(uid, **query)
        checks.equal(f"permissions: {uid}, not logged in", visitor.status, 401)


def check_refused_token(checks: Checks, admin: Admin, document: str, path: str) -> None:
    query = {"documentId": document, "locale": "en"}
    found = admin.preview(ARTICLE, status="published", **query)
    checks.equal("another draft token: published", found, link(path, "published"))
    found = admin.preview(ARTICLE, status="draft", **query)
    checks.equal("another draft token: draft", found, FAILED)


def check_failure(checks: Checks, name: str, admin: Admin, document: str) -> None:
    """An error in bounded time, and nothing else of Strapi suffers."""
    for status in ("published", "draft"):
        begun = time.monotonic()
        found = admin.preview(ARTICLE, documentId=document, locale="en", status=status)
        checks.equal(f"{name}: {status}", found, FAILED)
        print(f"{name}: {status}: {found.text} after {time.monotonic() - begun:.2f} s", flush=True)
    answered, _ = admin.call("GET", "/admin/users/me")
    checks.equal(f"{name}: the panel works", answered, 200)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=BINARY)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="the number of random cases")
    parser.add_argument("--seed", type=int, default=SEED, help="the seed of the random cases")
    parser.add_argument("--first", type=int, default=0, help="the number of the first pair")
    parser.add_argument("--only-pairs", action="store_true", help="without the handler")
    options = parser.parse_args()
    binary = options.binary.resolve()
    if not binary.is_file():
        print(f"{binary} is missing")
        sys.exit(CANNOT_SET_UP)
    checks, port = Checks(), free_port()
    variables = {
        "FRONTEND_MAP_URL": f"http://127.0.0.1:{port}",
        "FRONTEND_MAP_DRAFT_TOKEN": DRAFT_TOKEN,
        "PREVIEW_SECRET": SECRET,
        "PREVIEW_ORIGINS": "https://www.example.com",
        "FRONTEND_MAP_HOOK": f"http://127.0.0.1:{port}/hooks/cms",
        "FRONTEND_MAP_HOOK_SECRET": HOOK_SECRET,
    }
    with contextlib.ExitStack() as stack:
        strapi = stack.enter_context(running(ARTICLES, bulk=False, variables=variables))
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = folder / "settings.toml"
        settings.write_text(SETTINGS.replace("STRAPI", strapi.url))

        def start(draft_token: str) -> Service:
            secrets = {"CMS__TOKEN": READ_TOKEN, "AUTH__DRAFT_TOKEN": draft_token}
            overrides = secrets | {"SERVER__LISTEN": f"127.0.0.1:{port}"}
            return Service(settings, overrides, binary=binary)

        admin = super_admin(strapi.url)
        if not options.only_pairs:
            run(checks, admin, start)
        # Only webhooks refresh the snapshots.
        overrides = {
            "SERVER__LISTEN": f"127.0.0.1:{port}",
            "HOOKS__SECRET": HOOK_SECRET,
            "SNAPSHOTS__SOFT_SECONDS": 3600,
        }
        service = lab.Service(
            binary,
            folder,
            strapi.url,
            FULL_TOKEN,
            log="info",
            overrides=overrides,
            text=pairs_content.settings(strapi.url),
        )
        with service:
            numbers = range(options.first, options.first + options.pairs)
            live = Live(checks, service, strapi.url, FULL_TOKEN)
            check_pairs(checks, live, admin, options.seed, numbers)
            checks.check("pairs: no panic", "panicked" not in service.log())
        policy = get(strapi.url.removeprefix("http://"), "/admin").headers
        framed = policy.get("Content-Security-Policy", "")
        may_frame = "frame-src https://www.example.com" in framed
        checks.check("the panel may frame the frontend", may_frame, framed)
    failed = checks.failed.total()
    print(f"{checks.passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
