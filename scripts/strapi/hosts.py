"""Sites with several hosts and a slash at the end of paths, compared with the oracle by host."""

import collections
import functools
import json
import re
import urllib.parse
from collections.abc import Callable
from typing import NamedTuple

from common.client import until
from common.schema import violations
from strapi.checks import Checks
from strapi.fixture import Oracle
from strapi.responses import check_set
from strapi.service import (
    ARTICLE,
    BY_DOCUMENTS,
    CATEGORY,
    HOMEPAGE,
    LANDING,
    LOCALES,
    PAGE,
    PRESS,
    Response,
    Service,
)

COM, DE, FR = "https://example.com", "https://example.de/start", "http://example.fr:8080"
# The base URL of each locale, by site.
SITES = {"three": {"en": COM, "de": DE, "fr": FR}, "two": {"en": COM, "de": DE, "fr": COM}}
# Without `{locale}` a path is on several hosts.
RULES = {
    ARTICLE: "/articles/{slug}",
    CATEGORY: "/{locale}/categories/{slug}",
    PAGE: "/{slug}",
    LANDING: "/{locale}/landings/{slug}",
    PRESS: "/press/{slug}",
    HOMEPAGE: "/",
}
Links = dict[str, str]


class Version(NamedTuple):
    """A published version with a path; the smallest one owns its path on a host (D22)."""

    locale: int
    document: str
    path: str


def settings(strapi: str) -> str:
    lines = ["[cms]", f'url = "{strapi}"']
    for key, bases in SITES.items():
        table = ", ".join(f'{locale} = "{base}"' for locale, base in bases.items())
        lines += ["[[site]]", f'key = "{key}"', f"front_end_url = {{ {table} }}", BY_DOCUMENTS]
        lines += [f"locales = {json.dumps(LOCALES)}", 'trailing_slash = "always"']
        for uid, template in RULES.items():
            lines += ["[[site.rule]]", f'content_type = "{uid}"', f'template = "{template}"']
    lines += ["[[content_type]]", f'uid = "{HOMEPAGE}"', 'endpoint = "homepage"', 'kind = "single"']
    return "\n".join(lines) + "\n"


def expected_links(
    oracle: Oracle, bases: dict[str, str], uid: str, template: str
) -> dict[str, Links]:
    """The hreflang links of each URL of a type: the document's versions that own their paths."""
    owners: dict[tuple[str, str], Version] = {}
    for row in oracle.documents(uid, template):
        # A document that is not localized is one of the first locale.
        is_version = row["status"] == "published" and (uid != PRESS or row["locale"] == "en")
        if not is_version or "path" not in row:
            continue
        path = row["path"] if row["path"] == "/" else row["path"] + "/"
        version = Version(LOCALES.index(row["locale"]), row["documentId"], path)
        key = bases[row["locale"]], path
        owners[key] = min(version, owners.get(key, version))
    versions: dict[str, Links] = collections.defaultdict(dict)
    for (base, path), version in owners.items():
        versions[version.document][LOCALES[version.locale]] = base + path
    expected: dict[str, Links] = {}
    for links in versions.values():
        first = next(links[locale] for locale in LOCALES if locale in links)
        all_links = links | {"x-default": first} if len(links) > 1 else {}
        expected |= dict.fromkeys(links.values(), all_links)
    return expected


def check_hosts(
    checks: Checks, strapi: str, oracle: Oracle, start: Callable[[str], Service]
) -> None:
    service = start(settings(strapi))
    for site, bases in SITES.items():
        expected = {uid: expected_links(oracle, bases, uid, RULES[uid]) for uid in RULES}
        check_lists_and_files(checks, service, site, bases, expected)
        every = {url for urls in expected.values() for url in urls}
        check_paths(checks, service, site, bases, every)
    checks.equal("hosts: ends with status 0", service.stop(), 0)


def check_lists_and_files(
    checks: Checks,
    service: Service,
    site: str,
    bases: dict[str, str],
    expected: dict[str, dict[str, Links]],
) -> None:
    """The list of each type, and the files of each host, whose links lead back."""
    name = f"hosts {site}"
    for uid, urls in expected.items():
        check_list(checks, service, site, uid, set(urls))
    found: dict[str, dict[str, Links]] = {uid: {} for uid in expected}
    for base in dict.fromkeys(bases.values()):
        for uid, urls in check_files(checks, service, site, base, expected).items():
            found[uid] |= urls
    for uid, urls in found.items():
        checks.equal(f"{name} {uid}: union", sorted(urls), sorted(expected[uid]))
        for url, links in urls.items():
            checks.equal(f"{name} {uid}: hreflang of {url}", links, expected[uid].get(url))
            for other in links.values():
                checks.equal(f"{name}: links of {other} lead back", urls.get(other), links)
    for path in ("index.xml", "sitemap.xml", "robots.txt", "api.article.article-1.xml"):
        status = service.get(f"/sitemaps/{site}/{path}").status
        checks.equal(f"{name}: {path} without a host", status, 404)


def check_list(checks: Checks, service: Service, site: str, uid: str, expected: set[str]) -> None:
    status, _, body = service.get("/api/build-sitemap", site=site, contentType=uid)
    urls = json.loads(body)["data"]["urls"] if status == 200 else []
    print(f"hosts {site} {uid}: {len(urls)} URLs", flush=True)
    checks.equal(f"hosts {site} {uid}: status", status, 200)
    check_set(checks, f"hosts {site} {uid}", set(urls), expected)
    checks.equal(f"hosts {site} {uid}: each once", len(urls), len(set(urls)))


def check_files(
    checks: Checks, service: Service, site: str, base: str, expected: dict[str, dict[str, Links]]
) -> dict[str, dict[str, Links]]:
    """The files of one host: valid, with its own URLs alone. Their URLs by type, with links."""
    host = urllib.parse.urlsplit(base).netloc
    name, folder = f"hosts {site} {host}", f"/sitemaps/{site}/{host}"
    status, _, index = service.get(f"{folder}/index.xml")
    checks.equal(f"{name}: index", status, 200)
    escaped = service.get(f"/sitemaps/{site}/{host.replace(':', '%3A')}/sitemap.xml")
    checks.equal(f"{name}: index by its other name", escaped.body, index)
    checks.equal(f"{name}: index's schema", violations("sitemapindex", index.encode()), "")
    robots = service.get(f"{folder}/robots.txt").body
    checks.equal(f"{name}: robots.txt", robots, f"Sitemap: {base}/sitemaps/index.xml\n")
    found: dict[str, dict[str, Links]] = {uid: {} for uid in expected}
    for url in re.findall("<loc>([^<]*)</loc>", index):
        file = url.removeprefix(f"{base}/sitemaps/")
        of_type = found[file.rpartition("-")[0].replace(".", "::", 1)]
        status, _, text = service.get(f"{folder}/{file}")
        checks.equal(f"{name} {file}: status", status, 200)
        checks.equal(f"{name} {file}: schema", violations("urlset", text.encode()), "")
        for entry in re.findall("<url>(.*?)</url>", text):
            (loc,) = re.findall("<loc>(.*?)</loc>", entry)
            checks.check(f"{name} {file}: each once", loc not in of_type, loc)
            of_type[loc] = dict(re.findall(r'hreflang="([^"]+)" href="([^"]+)"', entry))
    for uid, urls in found.items():
        own = {url for url in expected[uid] if url.startswith(base + "/")}
        checks.equal(f"{name} {uid}: set", sorted(urls), sorted(own))
    return found


def check_paths(
    checks: Checks, service: Service, site: str, bases: dict[str, str], urls: set[str]
) -> None:
    """Each URL resolves to itself on its host; without a host, to the first host with its path."""
    hosts = {base: urllib.parse.urlsplit(base).netloc for base in bases.values()}

    def resolve(path: str, host: str = "") -> Response:
        return service.get("/api/resolve", site=site, pathname=path, host=host)

    def is_known(path: str) -> bool:
        return resolve(path).status == 200

    for template in RULES.values():
        # Known, with or without such a document.
        path = template.replace("{locale}", "en").replace("{slug}", "x")
        until(functools.partial(is_known, path))
    by_path: dict[str, list[str]] = collections.defaultdict(list)
    for url in urls:
        base = next(base for base in hosts if url.startswith(base + "/"))
        path = url.removeprefix(base)
        by_path[path].append(base)
        response = resolve(path, host=hosts[base])
        found = json.loads(response.body)["data"] or {}
        result = (response.status, found.get("canonicalUrl"), found.get("isCanonical"))
        checks.equal(f"hosts {site}: {url} by its host", result, (200, url, True))
    for path, on in by_path.items():
        first = next(base for base in hosts if base in on)
        found = json.loads(resolve(path).body)["data"] or {}
        checks.equal(f"hosts {site}: {path}", found.get("canonicalUrl"), first + path)
    checks.check(
        f"hosts {site}: a path is on two hosts", any(len(on) > 1 for on in by_path.values())
    )
