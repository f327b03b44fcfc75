#!/usr/bin/env python3
"""Runs the release binary against a real Strapi 5 and compares every answer with an oracle.

    scripts/e2e_strapi.py [--articles N] [BINARY]

BINARY: default `frontend-map` in `release` of $CARGO_TARGET_DIR, else of `target`.
Then it publishes, unpublishes and renames an article, told by Strapi's own webhook, and stops Strapi
for longer than the hard limit. With --articles the articles are so many, written into the database
directly; then only the sets of URLs are compared, and the changes and the outage tried.
The Strapi is the fixture `tests/strapi` (or $STRAPI_LAB): installed where
$LAB_DIR says if it is not yet (minutes; needs node, npm and a C++ compiler), started on a port and
with a database of its own, and stopped at the end. Nothing is skipped: what cannot be set up ends
the run with status 2. Ends with `N passed, N failed`, and status 0 if none failed.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
from strapi import live as e2e_live

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAB = pathlib.Path(os.environ.get("STRAPI_LAB", ROOT / "tests" / "strapi")).resolve()
LAB_DIR = pathlib.Path(os.environ.get("LAB_DIR", pathlib.Path.home() / ".cache" / "strapi-lab"))
BASE = "https://www.example.com"
ARTICLES = "300"
LOCALES = ["en", "de", "fr"]
READ, FULL, WRONG = "lab-read-only-token", "lab-full-access-token", "canary-of-a-wrong-token"
# How many requests are under way at a time; Strapi is the slower side.
AT_ONCE = 8

MAIN = {
    "api::article.article": "/{locale}/articles/{slug}",
    "api::category.category": "/{locale}/categories/{slug}",
    "api::page.page": "/{locale}/{slug}",
    "plugin::cms.landing": "/{locale}/landings/{slug}",
    "plugin::cms.press-release": "/press/{slug}",
    "api::homepage.homepage": "/{locale}",
}
# A second site, for what one rule a content type cannot show.
MORE = {
    "api::article.article": "/{locale}/{category.slug}/{slug}",
    "api::category.category": "/by-id/{locale}/{documentId}",
    "plugin::cms.press-release": "/{locale}/press/{slug}",
    "api::homepage.homepage": "/{locale}/{slug}",
}
SITES = {"main": MAIN, "more": MORE}
# A third site, for rules that say more than a template.
RICH = (
    """
[[site]]
key = "rich"
front_end_url = "%s"
locales = ["en", "de", "fr"]
locale_prefix = "except-default"
[[site.rule]]
content_type = "api::page.page"
template = "/{locale}/{*path}"
params.path = { field = "slug", ancestors = "parent" }
[[site.rule]]
content_type = "plugin::cms.press-release"
template = "/press/{publishedAt:year}/{publishedAt:month}/{slug}"
[[site.rule]]
content_type = "api::article.article"
template = { en = "/{locale}/third/{slug}", de = "/{locale}/dritte/{slug}" }
params.slug = { pattern = "[^ ]+" }
where = { "category.slug" = "category-3" }
[[site.rule]]
content_type = "api::article.article"
template = "/{locale}/vierte/{slug}"
where = { "category.slug" = "kategorie-4" }
"""
    % BASE
)
RICH_TYPES = set(re.findall(r'content_type = "([^"]+)"', RICH))


class Checks:
    """Counts, and prints the first failures of a kind."""

    SHOWN = 10

    def __init__(self):
        self.lock = threading.Lock()
        self.passed = 0
        self.failed = collections.Counter()

    def check(self, name, good, detail=""):
        with self.lock:
            self.passed += bool(good)
            if not good:
                self.failed[name] += 1
                if self.failed[name] <= self.SHOWN:
                    print(f"FAILED {name}: {detail}", flush=True)

    def equal(self, name, found, expected):
        self.check(name, found == expected, f"{found!r}, expected {expected!r}")


class Service:
    """The binary with a settings file, logging all it can."""

    def __init__(self, binary, folder, strapi, token, single=True, **variables):
        self.folder, self.token = pathlib.Path(tempfile.mkdtemp(dir=folder)), token
        settings = self.folder / "settings.toml"
        settings.write_text(settings_text(strapi, single), encoding="utf-8")
        self.log_file = self.folder / "log"
        env = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("FRONTEND_MAP__", "FRONT_END_URL"))
        }
        env |= {"RUST_LOG": "trace", "FRONTEND_MAP__CMS__TOKEN": token}
        env |= {
            name if name == "RUST_LOG" else f"FRONTEND_MAP__{name}": str(value)
            for name, value in variables.items()
        }
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(
                [binary, "--config", settings, "serve"], env=env, stdout=subprocess.PIPE, stderr=log
            )
        line = self.process.stdout.readline().decode().strip()
        if not re.fullmatch(r"127\.0\.0\.1:\d+", line):
            self.stop()
            sys.exit(f"the service did not start: {line!r}\n{self.log()[-4000:]}")
        self.address = line
        self.local = threading.local()

    def get(self, path, **params):
        """(status, headers, body) of one request; the connection of the thread is kept."""
        target = path + ("?" + urllib.parse.urlencode(params) if params else "")
        for fresh in (False, True):
            connection = getattr(self.local, "connection", None)
            if connection is None or fresh:
                connection = self.local.connection = http.client.HTTPConnection(
                    self.address, timeout=130
                )
            try:
                connection.request("GET", target)
                response = connection.getresponse()
                return response.status, response.headers, response.read().decode("utf-8")
            except (http.client.HTTPException, ConnectionError):
                if fresh:
                    raise

    def log(self):
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def stop(self):
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def settings_text(strapi, single):
    text = f'[server]\nlisten = "127.0.0.1:0"\nadmin_listen = ""\n[cms]\nsource = "strapi"\nurl = "{strapi}"\n'
    for key, rules in SITES.items():
        text += (
            f'[[site]]\nkey = "{key}"\nfront_end_url = "{BASE}"\nlocales = {json.dumps(LOCALES)}\n'
        )
        for uid, template in rules.items():
            text += f'[[site.rule]]\ncontent_type = "{uid}"\ntemplate = "{template}"\n'
    text += RICH
    if single:  # A token that may not read the schema cannot tell that this is a single type.
        text += '[[content_type]]\nuid = "api::homepage.homepage"\nendpoint = "homepage"\nkind = "single"\n'
    return text


def oracle(*arguments):
    run = subprocess.run(
        ["node", LAB / "tools" / "oracle.js", *arguments], stdout=subprocess.PIPE, check=True
    )
    return run.stdout.decode("utf-8").splitlines()


def check_sitemap(checks, service, site, uid, template):
    """The set of URLs, the order (D22), and the XML."""
    name = f"sitemap {site} {uid}"
    expected = oracle("sitemap", uid, template, ARTICLES, BASE)
    status, headers, body = service.get("/api/build-sitemap", site=site, contentType=uid)
    checks.equal(f"{name}: status", status, 200)
    if status != 200:
        return
    answer = json.loads(body)
    urls = answer["data"]["urls"]
    print(f"{name}: {len(urls)} URLs, {headers.get('x-skipped-documents')} skipped", flush=True)
    missing, extra = sorted(set(expected) - set(urls)), sorted(set(urls) - set(expected))
    checks.check(
        f"{name}: set", not missing and not extra, f"missing {missing[:5]}, extra {extra[:5]}"
    )
    checks.equal(f"{name}: each once", len(urls), len(set(urls)))
    checks.equal(f"{name}: count", answer["data"]["count"], len(urls))
    checks.equal(f"{name}: meta", answer["meta"], {})
    checks.check(f"{name}: not empty", urls)
    at = template.split("/").index("{locale}") if "{locale}" in template else None

    def order(url):
        path = url.removeprefix(BASE)
        return (LOCALES.index(path.split("/")[at]) if at else 0, path)

    checks.check(f"{name}: order", urls == sorted(urls, key=order), urls[:5])
    status, headers, xml = service.get("/api/build-sitemap", site=site, contentType=uid, xml="true")
    checks.equal(f"{name}: XML", (status, headers.get_content_type()), (200, "application/xml"))
    checks.equal(f"{name}: XML's URLs", re.findall("<loc>([^<]*)</loc>", xml), urls)


def check_crawler_files(checks, service, site, rules):
    """What the index leads to: the URLs of all types, and hreflang groups that are the versions."""
    name = f"crawler files {site}"
    status, _, index = service.get(f"/sitemaps/{site}/index.xml")
    checks.equal(f"{name}: index", status, 200)
    found = {uid: {} for uid in rules}
    for file in re.findall(r"<loc>[^<]*/sitemaps/([^/<]+)</loc>", index):
        status, _, text = service.get(f"/sitemaps/{site}/{file}")
        checks.equal(f"{name} {file}: status", status, 200)
        uid = file.rpartition("-")[0].replace(".", "::", 1)
        for entry in re.findall("<url>(.*?)</url>", text):
            url = re.search("<loc>(.*?)</loc>", entry)[1]
            checks.check(f"{name} {file}: each once", url not in found[uid], url)
            checks.check(
                f"{name} {file}: lastmod",
                re.search(r"<lastmod>20\d\d-\d\d-\d\dT[0-9:.]+Z</lastmod>", entry),
                entry,
            )
            found[uid][url] = dict(re.findall(r'hreflang="([^"]+)" href="([^"]+)"', entry))
    for uid, template in rules.items():
        groups = collections.defaultdict(dict)
        for line in oracle("url", uid, template, ARTICLES, BASE):
            row = json.loads(line)
            if row["status"] == "published" and "path" in row:
                groups[row["documentId"]].setdefault(BASE + row["path"], row["locale"])
        expected = {}
        for versions in groups.values():
            links = {locale: url for url, locale in versions.items()}
            first = next(links[locale] for locale in LOCALES if locale in links)
            links = links | {"x-default": first} if len(links) > 1 else {}
            expected |= {url: links for url in versions}
        print(f"{name} {uid}: {len(expected)} URLs", flush=True)
        checks.equal(f"{name} {uid}: set", sorted(found[uid]), sorted(expected))
        for url, links in expected.items():
            checks.equal(f"{name} {uid}: hreflang of {url}", found[uid].get(url), links)


def check_url(checks, service, site, uid, row):
    """One document in one locale and status."""
    name = f"url {site} {uid}"
    params = {key: row[key] for key in ("documentId", "locale", "status")}
    status, headers, body = service.get("/api/frontend-url", site=site, uid=uid, **params)
    data = json.loads(body)
    if "path" in row:
        expected = {"url": BASE + row["path"], "path": row["path"]}
        checks.equal(f"{name} {params}", (status, data["data"]), (200, expected))
    else:
        error = data.get("error") or {}
        reason = error.get("details", {}).get("reason")
        expected = None if row["reason"] == "absent" else row["reason"]
        checks.equal(
            f"{name} {params}",
            (status, error.get("name"), reason),
            (404, "NotFoundError", expected),
        )
    if row["status"] == "draft" and status == 200:
        checks.equal(f"{name}: a draft is not stored", headers.get("cache-control"), "no-store")


def check_all_urls(checks, service):
    """Every document of every type, in every locale and status, and some that do not exist."""
    work = []
    for site, rules in SITES.items():
        for uid, template in rules.items():
            rows = [json.loads(line) for line in oracle("url", uid, template, ARTICLES, BASE)]
            print(f"url {site} {uid}: {len(rows)} rows", flush=True)
            absent = {"reason": "absent", "status": "published"}
            rows.append({"documentId": "nosuchdocumentnosuchdocu", "locale": "en"} | absent)
            rows.append({"documentId": rows[0]["documentId"], "locale": "es"} | absent)
            work += [(site, uid, row) for row in rows]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(check_url, checks, service, *item) for item in work]:
            done.result()


def page_tree():
    """The URLs of all published pages: 3 roots, 3 children each, 3 grandchildren each. Page 2 (a root)
    exists in English only, so that its children are roots elsewhere; page 38 is a draft."""
    words = {"en": "page", "de": "seite", "fr": "page-fr"}
    for locale, word in words.items():
        for page in range(39):
            if page == 38 or (page == 2 and locale != "en"):
                continue
            chain, at = [], page
            while at is not None:
                chain.insert(0, f"{word}-{at}")
                parent = None if at < 3 else (at - 3) // 3
                at = None if parent == 2 and locale != "en" else parent
            prefix = "" if locale == "en" else f"/{locale}"
            yield f"{BASE}{prefix}/" + "/".join(chain)


def press_releases(strapi):
    """With the month in which Strapi says that each was published."""
    request = urllib.request.Request(
        f"{strapi}/api/cms/press-releases?fields[0]=slug&fields[1]=publishedAt&pagination[pageSize]=100",
        headers={"Authorization": f"Bearer {READ}"},
    )
    with urllib.request.urlopen(request) as answer:
        for release in json.load(answer)["data"]:
            year, month = release["publishedAt"].split("-")[:2]
            yield f"{BASE}/press/{year}/{month}/{release['slug']}"


def articles_of_two_categories():
    """Those of category-3 in English and of kategorie-4 in German; no white space in the former."""
    for url in oracle(
        "sitemap", "api::article.article", "/{locale}/{category.slug}/{slug}", ARTICLES, BASE
    ):
        locale, category, slug = url.removeprefix(f"{BASE}/").split("/")
        if (locale, category) == ("en", "category-3") and "%20" not in slug:
            yield f"{BASE}/third/{slug}"
        if (locale, category) == ("de", "kategorie-4"):
            yield f"{BASE}/de/vierte/{slug}"


def check_rich(checks, service, strapi):
    """Rules with ancestors, dates, conditions, constraints: sets of URLs, and the way back for each."""
    for uid, expected in {
        "api::page.page": set(page_tree()),
        "plugin::cms.press-release": set(press_releases(strapi)),
        "api::article.article": set(articles_of_two_categories()),
    }.items():
        status, _, body = service.get("/api/build-sitemap", site="rich", contentType=uid)
        urls = json.loads(body)["data"]["urls"] if status == 200 else []
        print(f"sitemap rich {uid}: {len(urls)} URLs", flush=True)
        checks.equal(f"sitemap rich {uid}: status", status, 200)
        checks.check(f"sitemap rich {uid}: not empty", expected)
        missing, extra = sorted(expected - set(urls)), sorted(set(urls) - expected)
        checks.check(
            f"sitemap rich {uid}: set",
            not missing and not extra,
            f"missing {missing[:5]}, extra {extra[:5]}",
        )
        for url in urls:
            status, _, body = service.get(
                "/api/get-content-type",
                site="rich",
                pathname=url.removeprefix(BASE),
                compact="true",
            )
            checks.equal(
                f"back rich {uid}", (status, json.loads(body)["data"]), (200, {"contentType": uid})
            )


def check_failure(checks, name, answer, status, error):
    found, headers, body = answer
    envelope = json.loads(body)
    checks.equal(f"{name}: status", found, status)
    checks.equal(f"{name}: data", envelope["data"], None)
    checks.equal(
        f"{name}: error", (envelope["error"]["status"], envelope["error"]["name"]), (status, error)
    )
    checks.equal(f"{name}: Retry-After", headers.get("retry-after"), "5" if status == 503 else None)
    check_no_token(checks, name, body + str(headers))


def check_no_token(checks, name, text):
    for token in (READ, FULL, WRONG):
        checks.check(f"{name}: no token", token not in text, f"{token} is shown")


def check_all_failures(checks, service, document, status, error):
    for site, rules in SITES.items():
        for uid in rules:
            answer = service.get("/api/build-sitemap", site=site, contentType=uid)
            check_failure(checks, f"{status} sitemap {site} {uid}", answer, status, error)
    answer = service.get("/api/frontend-url", uid="api::article.article", documentId=document)
    check_failure(checks, f"{status} url", answer, status, error)
    check_resolve(checks, service, f"{status}: resolving goes on")


def check_resolve(checks, service, name):
    status, _, body = service.get(
        "/api/get-content-type", site="main", pathname="/en/articles/x", compact="true"
    )
    checks.equal(
        name, (status, json.loads(body)["data"]), (200, {"contentType": "api::article.article"})
    )


def lab(verb, env):
    """One verb of the lab's start script; the output is shown where it fails."""
    run = subprocess.run(
        [LAB / "start.sh", verb],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if run.returncode:
        print(run.stdout.decode(errors="replace")[-4000:])
        print(f"the Strapi lab cannot {verb}")
        sys.exit(2)


@contextlib.contextmanager
def strapi(port, bulk):
    """A Strapi with fresh content; yields a function that stops it, and one that starts it again."""
    env = os.environ | {
        "LAB_DIR": str(LAB_DIR),
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "SEED_ARTICLES": ARTICLES,
        "SEED_MODE": "bulk" if bulk else "service",
        # The articles that change are Strapi's own work in any case.
        "SEED_SERVICE_FIRST": "5",
        "DATABASE_CLIENT": "sqlite",
        "DATABASE_FILENAME": f".tmp/e2e-{port}.db",
    }
    for name in ("REST_MAX_LIMIT", "REST_DEFAULT_LIMIT", "STRICT", "WEBHOOK_URL"):
        env.pop(name, None)
    if not (LAB_DIR / "node_modules" / "@strapi" / "strapi").is_dir():
        print("installing the Strapi lab (minutes)", flush=True)
        lab("install", env)
    print("starting Strapi (its first start seeds the content)", flush=True)
    try:
        lab("start", env)
        yield lambda: lab("stop", env), lambda: lab("start", env)
    finally:
        lab("reset", env)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def first_article():
    """Its documentId and its English URL on the main site."""
    row = json.loads(oracle("url", e2e_live.UID, MAIN[e2e_live.UID], "1", BASE)[0])
    return row["documentId"], BASE + row["path"]


def check_sets(checks, service):
    for site, rules in SITES.items():
        for uid, template in rules.items():
            check_sitemap(checks, service, site, uid, template)
        check_crawler_files(checks, service, site, rules)


def check_everything(checks, start, url):
    """Every document; a token that may read the schema; one that may read nothing."""
    reader = start(READ)
    check_sets(checks, reader)
    check_all_urls(checks, reader)
    check_rich(checks, reader, url)
    # This token reads the schema, so that nothing needs to be configured or guessed.
    full = start(FULL, False)
    for uid, template in MAIN.items():
        check_sitemap(checks, full, "main", uid, template)
    wrong = start(WRONG)
    check_all_failures(checks, wrong, first_article()[0], 502, "BadGatewayError")
    return {"reader": reader, "full": full, "wrong": wrong}


def check_live(checks, start, url, stop_strapi, start_strapi, hard):
    """Changes, then an outage. Copies of an hour, so that nothing but the webhook refreshes them."""
    told = start(READ, HOOKS__SECRET=e2e_live.SECRET, SNAPSHOTS__SOFT_SECONDS=3600, RUST_LOG="info")
    e2e_live.wait_until_built(told, sum(map(len, SITES.values())) + len(RICH_TYPES))
    live = e2e_live.Live(checks, told, url, FULL)
    e2e_live.check_changes(live, *first_article(), f"http://{told.address}/hooks/cms")
    checks.check("log: no secret of the webhook", e2e_live.SECRET not in told.log())
    checks.equal("told: ends with status 0", told.stop(), 0)
    outage = start(
        READ,
        SNAPSHOTS__SOFT_SECONDS=1,
        SNAPSHOTS__HARD_SECONDS=hard,
        SNAPSHOTS__AT_START="false",
        RUST_LOG="info",
    )
    e2e_live.check_outage(e2e_live.Live(checks, outage, url, FULL), stop_strapi, start_strapi)


def check_logs(checks, services):
    for name, service in services.items():
        checks.equal(f"{name}: ends with status 0", service.stop(), 0)
        log = service.log()
        check_no_token(checks, f"log of {name}", log)
        checks.check(
            f"log of {name}: is at trace", re.search("TRACE|trace|DEBUG|debug", log), log[:200]
        )
        checks.check(f"log of {name}: no panic", "panicked" not in log)


def run(checks, binary, folder, bulk):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with contextlib.ExitStack() as stack:
        stop_strapi, start_strapi = stack.enter_context(strapi(port, bulk))
        start = lambda *args, **settings: stack.enter_context(
            Service(binary, folder, url, *args, **settings)
        )
        if bulk:
            reader = start(READ, RUST_LOG="info")
            check_sets(checks, reader)
            checks.equal("reader: ends with status 0", reader.stop(), 0)
            # A walk takes minutes here where the machine is busy, and the next one rests as long.
            check_live(checks, start, url, stop_strapi, start_strapi, 600)
            return
        services = check_everything(checks, start, url)
        check_live(checks, start, url, stop_strapi, start_strapi, 30)
        stop_strapi()
        services["cold"] = cold = start(READ)
        check_all_failures(checks, cold, first_article()[0], 503, "ServiceUnavailableError")
        check_resolve(checks, services["reader"], "resolving goes on without Strapi")
        check_logs(checks, services)


def main():
    global ARTICLES
    options = argparse.ArgumentParser(usage="scripts/e2e_strapi.py [--articles N] [BINARY]")
    options.add_argument("--articles", type=int)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    options.add_argument(
        "binary", nargs="?", type=pathlib.Path, default=target / "release" / "frontend-map"
    )
    options = options.parse_args()
    binary = options.binary.resolve()
    ARTICLES = str(options.articles or ARTICLES)
    for needed in (binary, LAB / "start.sh", LAB / "tools" / "oracle.js"):
        if not needed.is_file():
            print(f"{needed} is missing")
            sys.exit(2)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        run(checks, binary, folder, options.articles is not None)
    failed = checks.failed.total()
    print(f"{checks.passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
