"""Each response of a service in front of the fixture, compared with the oracle."""

import collections
import concurrent.futures
import json
import re
import urllib.request
from collections.abc import Iterator
from typing import Any

from common.schema import violations
from strapi.checks import Checks
from strapi.fixture import READ_TOKEN, TOKENS, Oracle
from strapi.service import ARTICLE, BASE, LOCALES, SITES, Response, Service

# Requests in flight at a time; Strapi is the slower side.
AT_ONCE = 8
LASTMOD = re.compile(r"<lastmod>20\d\d-\d\d-\d\dT[0-9:.]+Z</lastmod>")
Row = dict[str, Any]


def check_sitemap(
    checks: Checks, service: Service, oracle: Oracle, site: str, uid: str, template: str
) -> None:
    """The set of URLs, the order (D22), and the XML."""
    name = f"sitemap {site} {uid}"
    expected = set(oracle.sitemap(uid, template))
    status, headers, body = service.get("/api/build-sitemap", site=site, contentType=uid)
    checks.equal(f"{name}: status", status, 200)
    if status != 200:
        return
    response = json.loads(body)
    urls: list[str] = response["data"]["urls"]
    print(f"{name}: {len(urls)} URLs, {headers.get('x-skipped-documents')} skipped", flush=True)
    check_set(checks, name, set(urls), expected)
    checks.equal(f"{name}: each once", len(urls), len(set(urls)))
    checks.equal(f"{name}: count", response["data"]["count"], len(urls))
    checks.equal(f"{name}: meta", response["meta"], {})
    at = template.split("/").index("{locale}") if "{locale}" in template else None

    def order(url: str) -> tuple[int, str]:
        path = url.removeprefix(BASE)
        return (LOCALES.index(path.split("/")[at]) if at else 0, path)

    checks.check(f"{name}: order", urls == sorted(urls, key=order), urls[:5])
    status, headers, xml = service.get("/api/build-sitemap", site=site, contentType=uid, xml="true")
    content_type = headers.get("content-type", "").partition(";")[0]
    checks.equal(f"{name}: XML", (status, content_type), (200, "application/xml"))
    checks.equal(f"{name}: XML's URLs", re.findall("<loc>([^<]*)</loc>", xml), urls)


def check_set(checks: Checks, name: str, found: set[str], expected: set[str]) -> None:
    missing, extra = sorted(expected - found), sorted(found - expected)
    differs = f"missing {missing[:5]}, extra {extra[:5]}"
    checks.check(f"{name}: set", not missing and not extra, differs)
    checks.check(f"{name}: not empty", expected)


def check_crawler_files(
    checks: Checks, service: Service, oracle: Oracle, site: str, rules: dict[str, str]
) -> None:
    """What the index leads to: the URLs of all types, and hreflang groups that are the versions."""
    name = f"crawler files {site}"
    status, _, index = service.get(f"/sitemaps/{site}/index.xml")
    checks.equal(f"{name}: index", status, 200)
    _, _, other = service.get(f"/sitemaps/{site}/sitemap.xml")
    checks.equal(f"{name}: sitemap.xml", other, index)
    checks.equal(f"{name}: index's schema", violations("sitemapindex", index.encode()), "")
    # The hreflang links of each URL of each type.
    found: dict[str, dict[str, dict[str, str]]] = {uid: {} for uid in rules}
    for file in re.findall(r"<loc>[^<]*/sitemaps/([^/<]+)</loc>", index):
        status, _, text = service.get(f"/sitemaps/{site}/{file}")
        checks.equal(f"{name} {file}: status", status, 200)
        checks.equal(f"{name} {file}: schema", violations("urlset", text.encode()), "")
        uid = file.rpartition("-")[0].replace(".", "::", 1)
        for entry in re.findall("<url>(.*?)</url>", text):
            url = "".join(re.findall("<loc>(.*?)</loc>", entry)[:1])
            checks.check(f"{name} {file}: each once", url not in found[uid], url)
            checks.check(f"{name} {file}: lastmod", LASTMOD.search(entry), entry)
            found[uid][url] = dict(re.findall(r'hreflang="([^"]+)" href="([^"]+)"', entry))
    for uid, template in rules.items():
        expected = expected_links(oracle, uid, template)
        print(f"{name} {uid}: {len(expected)} URLs", flush=True)
        checks.equal(f"{name} {uid}: set", sorted(found[uid]), sorted(expected))
        for url, links in expected.items():
            checks.equal(f"{name} {uid}: hreflang of {url}", found[uid].get(url), links)


def expected_links(oracle: Oracle, uid: str, template: str) -> dict[str, dict[str, str]]:
    """The hreflang links of each URL: those of all published versions, if there are several."""
    versions: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for row in oracle.documents(uid, template):
        if row["status"] == "published" and "path" in row:
            versions[row["documentId"]].setdefault(BASE + row["path"], row["locale"])
    expected: dict[str, dict[str, str]] = {}
    for urls in versions.values():
        links = {locale: url for url, locale in urls.items()}
        first = next(links[locale] for locale in LOCALES if locale in links)
        links = links | {"x-default": first} if len(links) > 1 else {}
        expected |= dict.fromkeys(urls, links)
    return expected


def check_url(checks: Checks, service: Service, site: str, uid: str, row: Row) -> None:
    """One document in one locale and status."""
    name = f"url {site} {uid}"
    params = {key: row[key] for key in ("documentId", "locale", "status")}
    status, headers, body = service.get("/api/frontend-url", site=site, uid=uid, **params)
    response = json.loads(body)
    if "path" in row:
        data = {"url": BASE + row["path"], "path": row["path"]}
        checks.equal(f"{name} {params}", (status, response["data"]), (200, data))
    else:
        error = response.get("error") or {}
        reason = error.get("details", {}).get("reason")
        absent = "no_version" if row["locale"] in LOCALES else "locale_unknown"
        expected = absent if row["reason"] == "absent" else row["reason"]
        found = (status, error.get("name"), reason)
        checks.equal(f"{name} {params}", found, (404, "NotFoundError", expected))
    cached = headers.get("cache-control")
    if row["status"] == "draft":
        checks.equal(f"{name}: a draft is not stored", cached, "no-store")
        # The word of Strapi's panel.
        modified = params | {"status": "modified"}
        again = service.get("/api/frontend-url", site=site, uid=uid, **modified)
        found = (again.status, again.body, again.headers.get("cache-control"))
        checks.equal(f"{name} {modified}", found, (status, body, cached))
    elif status == 200:
        checks.equal(f"{name}: caches ask again", cached, "no-cache")


def check_all_urls(checks: Checks, service: Service, oracle: Oracle) -> None:
    """Each document of each type, in each locale and status, and some that do not exist."""
    work: list[tuple[str, str, Row]] = []
    for site, rules in SITES.items():
        for uid, template in rules.items():
            rows = oracle.documents(uid, template)
            print(f"url {site} {uid}: {len(rows)} rows", flush=True)
            absent = {"reason": "absent", "status": "published"}
            rows.append({"documentId": "nosuchdocumentnosuchdocu", "locale": "en"} | absent)
            rows.append({"documentId": rows[0]["documentId"], "locale": "es"} | absent)
            work += [(site, uid, row) for row in rows]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(check_url, checks, service, *item) for item in work]:
            done.result()


def page_tree() -> Iterator[str]:
    """The URLs of all published pages."""
    for _, path in page_paths(with_draft=False):
        yield BASE + path


def page_paths(with_draft: bool) -> Iterator[tuple[str, str]]:
    """The locale and path of all pages: 3 roots, 3 children each, 3 grandchildren each.

    Page 2 (a root) exists in English only, so that its children are roots elsewhere; page 38 is a
    draft.
    """
    words = {"en": "page", "de": "seite", "fr": "page-fr"}
    for locale, word in words.items():
        for page in range(39):
            if (page == 38 and not with_draft) or (page == 2 and locale != "en"):
                continue
            chain: list[str] = []
            at: int | None = page
            while at is not None:
                chain.insert(0, f"{word}-{at}")
                parent = None if at < 3 else (at - 3) // 3
                at = None if parent == 2 and locale != "en" else parent
            prefix = "" if locale == "en" else f"/{locale}"
            yield locale, f"{prefix}/" + "/".join(chain)


def press_releases(strapi: str) -> Iterator[str]:
    """With the month in which Strapi says that each was published."""
    query = "fields[0]=slug&fields[1]=publishedAt&pagination[pageSize]=100"
    request = urllib.request.Request(
        f"{strapi}/api/cms/press-releases?{query}",
        headers={"Authorization": f"Bearer {READ_TOKEN}"},
    )
    with urllib.request.urlopen(request) as response:
        for release in json.load(response)["data"]:
            year, month = release["publishedAt"].split("-")[:2]
            yield f"{BASE}/press/{year}/{month}/{release['slug']}"


def articles_of_two_categories(oracle: Oracle) -> Iterator[str]:
    """The articles of category-3 in English, without white space, and of kategorie-4 in German."""
    for url in oracle.sitemap(ARTICLE, "/{locale}/{category.slug}/{slug}"):
        locale, category, slug = url.removeprefix(f"{BASE}/").split("/")
        if (locale, category) == ("en", "category-3") and "%20" not in slug:
            yield f"{BASE}/third/{slug}"
        if (locale, category) == ("de", "kategorie-4"):
            yield f"{BASE}/de/vierte/{slug}"


def check_rich(checks: Checks, service: Service, oracle: Oracle, strapi: str) -> None:
    """Rules with ancestors, dates, conditions, constraints: URLs, and the way back for each."""
    for uid, expected in {
        "api::page.page": set(page_tree()),
        "plugin::cms.press-release": set(press_releases(strapi)),
        ARTICLE: set(articles_of_two_categories(oracle)),
    }.items():
        status, _, body = service.get("/api/build-sitemap", site="rich", contentType=uid)
        urls = json.loads(body)["data"]["urls"] if status == 200 else []
        print(f"sitemap rich {uid}: {len(urls)} URLs", flush=True)
        checks.equal(f"sitemap rich {uid}: status", status, 200)
        check_set(checks, f"sitemap rich {uid}", set(urls), expected)
        for url in urls:
            pathname = url.removeprefix(BASE)
            check_resolve(checks, service, f"back rich {uid}", "rich", pathname, uid)


def check_resolve(
    checks: Checks, service: Service, name: str, site: str, pathname: str, uid: str
) -> None:
    status, _, body = service.get(
        "/api/get-content-type", site=site, pathname=pathname, compact="true"
    )
    checks.equal(name, (status, json.loads(body)["data"]), (200, {"contentType": uid}))


def check_article_resolves(checks: Checks, service: Service, name: str) -> None:
    check_resolve(checks, service, name, "main", "/en/articles/x", ARTICLE)


def check_failure(checks: Checks, name: str, response: Response, status: int, error: str) -> None:
    envelope = json.loads(response.body)
    found = envelope["error"]
    checks.equal(f"{name}: status", response.status, status)
    checks.equal(f"{name}: data", envelope["data"], None)
    checks.equal(f"{name}: error", (found["status"], found["name"]), (status, error))
    retry_after = "5" if status == 503 else None
    checks.equal(f"{name}: Retry-After", response.headers.get("retry-after"), retry_after)
    check_no_token(checks, name, response.body + str(response.headers))


def check_no_token(checks: Checks, name: str, text: str) -> None:
    for token in TOKENS:
        checks.check(f"{name}: no token", token not in text, f"{token} is shown")


def check_all_failures(
    checks: Checks, service: Service, document: str, status: int, error: str
) -> None:
    for site, rules in SITES.items():
        for uid in rules:
            response = service.get("/api/build-sitemap", site=site, contentType=uid)
            check_failure(checks, f"{status} sitemap {site} {uid}", response, status, error)
    response = service.get("/api/frontend-url", uid=ARTICLE, documentId=document)
    check_failure(checks, f"{status} url", response, status, error)
    check_article_resolves(checks, service, f"{status}: resolving goes on")


def check_setup_problem(checks: Checks, service: Service, uid: str, expected: str) -> None:
    """A 502 that says what to do about the token."""
    response = service.get("/api/build-sitemap", site="main", contentType=uid)
    name = f"setup problem of {uid}"
    checks.equal(f"{name}: status", response.status, 502)
    checks.check(f"{name}: {expected}", expected in response.body, response.body[:500])
    check_no_token(checks, name, response.body)
