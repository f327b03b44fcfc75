"""Fields of all kinds: components that a path leads through, conditions over relations to many,
what the service says about wrong settings, and an update of which the first request fails."""

import json

from common.client import until
from strapi.checks import Checks
from strapi.failing_proxy import FailingProxy
from strapi.live import BUILT, Live
from strapi.responses import check_failure, check_set
from strapi.service import ARTICLE, BASE, PAGE, Service

KIND = "api::kind.kind"
# The fields of all documents beside the ones of each.
FIELDS = {"number": 5, "price": 1.5, "ratio": 2.5, "open": True, "meta": {"a": 1}, "secret": "s"}
# A request and its retry.
ATTEMPTS = 2
PAGE_SIZE = 100
SITE = """
[[site]]
key = "{}"
front_end_url = "{}"
locales = ["en", "de", "fr"]
"""
RULE = """
[[site.rule]]
content_type = "{}"
template = "{}"
"""
SITES = {
    # The component has a field of its own, but the rule needs none of them.
    "components": RULE.format(KIND, "/{seo.section.slug}/{slug}"),
    "one": RULE.format(KIND, "/{slug}") + 'where = { "tags.slug" = "category-3" }\n',
    "other": RULE.format(KIND, "/{slug}") + 'where = { "tags.slug" = "category-4" }\n',
    "wrong": RULE.format("api::news.news", "/{slug}") + RULE.format(PAGE, "/{slugg}"),
    "walked": RULE.format(ARTICLE, "/{locale}/{slug}"),
}
WRONG = {
    "api::news.news": '404 on /api/newses: write [[content_type]] uid = "api::news.news"',
    PAGE: f"400: {PAGE} has no field or relation `slugg`; correct the settings",
}


def settings(strapi: str) -> str:
    head = f'[cms]\nurl = "{strapi}"\n'
    return head + "".join(SITE.format(key, BASE) + rules for key, rules in SITES.items())


def create(live: Live) -> dict[str, str]:
    """Publishes documents; their ids by slug."""
    categories = {row["slug"]: row["documentId"] for row in live.rows("categories", 100)}
    three, four = categories["category-3"], categories["category-4"]
    seo = {"slug": "seo", "section": three}
    links = [{"slug": "first", "section": three}, {"slug": "second"}]
    zone = [{"__component": "shared.seo", "slug": "zone"}]
    ids = {}
    for slug, own in {
        "both": {"tags": [three, four], "seo": seo, "links": links},
        "four": {"tags": [four], "seo": {"slug": "seo", "section": four}},
        "none": {"tags": [], "seo": {"slug": "seo"}},
        "bare": {},
    }.items():
        data = FIELDS | {"slug": slug, "zone": zone, "category": three} | own
        call = {"uid": KIND, "action": "create", "status": "published", "data": data}
        ids[slug] = live.post("/api/lab/action", call)["documentId"]
    return ids


def listed(service: Service, site: str) -> set[str]:
    response = service.get("/api/build-sitemap", site=site, contentType=KIND)
    paths = json.loads(response.body)["data"]["urls"] if response.status == 200 else []
    return {path.removeprefix(BASE) for path in paths}


def check_kinds(checks: Checks, live: Live, proxy: FailingProxy, ids: dict[str, str]) -> None:
    service = live.service
    check_walk(checks, service)
    expected = {
        "components": {"/category-3/both", "/category-4/four"},
        "one": {"/both"},
        "other": {"/both", "/four"},
    }
    for site, paths in expected.items():
        check_set(checks, f"kinds: {site}", listed(service, site), paths)
    response = service.get("/api/frontend-url", site="components", uid=KIND, documentId=ids["both"])
    path = json.loads(response.body)["data"]["path"] if response.status == 200 else response
    checks.equal("kinds: the URL through a component", path, "/category-3/both")
    for uid, message in WRONG.items():
        response = service.get("/api/build-sitemap", site="wrong", contentType=uid)
        check_failure(checks, f"kinds: wrong {uid}", response, 502, "BadGatewayError")
        found = json.loads(response.body)["error"]["message"]
        checks.check(f"kinds: wrong {uid}: the message", message in found, found)
    check_update(checks, live, proxy, ids)


def check_walk(checks: Checks, service: Service) -> None:
    """At most 2 requests beyond the pages, a locale; one request for the schema."""

    def requests() -> int:
        return int(service.metric("frontend_map_cms_request_seconds_count"))

    before = requests()
    response = service.get("/api/build-sitemap", site="walked", contentType=ARTICLE)
    cost = requests() - before
    urls = json.loads(response.body)["data"]["urls"]
    skipped = int(response.headers.get("x-skipped-documents", 0))
    pages = (len(urls) + skipped) // PAGE_SIZE + 3
    print(f"walk: {cost} requests for {len(urls)} URLs", flush=True)
    checks.check("walk: its requests", cost <= pages + 7, f"{cost} for {pages} pages")


def check_update(checks: Checks, live: Live, proxy: FailingProxy, ids: dict[str, str]) -> None:
    """A document that could not be read again is requested again, before the walks that follow the
    outage."""
    service = live.service
    built = service.log().count(BUILT)
    proxy.fail_next(ATTEMPTS, lambda target: f"[documentId][$eq]={ids['both']}" in target)
    data = {"slug": "renamed"}
    call = {"uid": KIND, "action": "update", "documentId": ids["both"], "data": data}
    live.post("/api/lab/action", call | {"status": "published"})
    took = until(lambda: listed(service, "one") == {"/renamed"})
    checks.check("failed update: it shows", took is not None, listed(service, "one"))
    print(f"failed update: {took or -1:.1f} s", flush=True)
    checks.equal("failed update: refused", len(proxy.refused), ATTEMPTS)
    # The circuit breaker has opened: each content type is walked once after it has closed.
    walks = service.log().count(BUILT) - built
    checks.check("failed update: walks", walks <= 3, walks)
