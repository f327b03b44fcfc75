"""Random settings, content and requests. Equal seeds give equal ones."""

import json
import random
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from builds.client import Request
from builds.peers import Content, Document
from common.build import ROOT

LOCALES = ["en", "de", "fr", "pt-BR", "zh_Hant", "es"]
# Content types, and the endpoint of each below `/api/`.
TYPES = {
    "api::article.article": "articles",
    "api::page.page": "pages",
    "api::category.category": "categories",
    "plugin::cms.news": "cms/news",
    "plugin::cms.press-release": "cms/press-releases",
    "api::home.home": "home",
}
SINGLE = "api::home.home"
WORDS = ["articles", "news", "about us", "a.b", "über", "latest", "x", "de", "2024", "~t"]
VALIDATE_TOKEN, DRAFT_TOKEN, HOOK_SECRET = "validate-token", "draft-token", "hook-secret"
ORIGIN = "https://admin.example.com"
ROUTES = ["/api/get-content-type", "/api/resolve", "/api/frontend-url", "/api/build-sitemap"]


def corpus_slugs() -> list[Any]:
    lines = (ROOT / "tests/corpora/hostile-slugs.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines if line]
    slugs = [case["document"].get("slug") for case in cases if case["kind"] == "slug"]
    return [slug for slug in slugs if not isinstance(slug, str) or len(slug) < 3000]


SLUGS = corpus_slugs()


@dataclass
class Site:
    key: str
    locales: list[str]
    rules: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class World:
    """Settings, content and what requests may name."""

    settings: str
    content: Content
    sites: list[Site]
    is_strapi: bool

    def content_text(self) -> str:
        return json.dumps(self.content)


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def world(self, is_strapi: bool) -> World:
        """The settings name `{cms}` and `{front_end}`, addresses that are not known yet."""
        count = self.random.choice([1, 1, 2, 3])
        keys = self.random.sample(["main", "docs", "cms", "a.b", "X_1"], count)
        sites = [Site(key, self.locales()) for key in keys]
        lines = self.server()
        lines += ["[cms]"]
        files = ['source = "files"', 'path = "content.json"']
        lines += ['url = "http://{cms}"'] if is_strapi else files
        lines += ["[snapshots]", "at_start = false", "soft_seconds = 86400"]
        for site in sites:
            lines += self.site(site)
        if is_strapi:
            for uid, endpoint in TYPES.items():
                # The endpoints of the others are guessed.
                if uid == SINGLE or self.chance(0.7):
                    lines += ["[[content_type]]", f'uid = "{uid}"', f'endpoint = "{endpoint}"']
                    lines += ['kind = "single"'] if uid == SINGLE else []
        content = {uid: self.documents(uid, sites[0].locales) for uid in TYPES}
        return World("\n".join(lines) + "\n", content, sites, is_strapi)

    def server(self) -> list[str]:
        lines = ["[server]", 'listen = "127.0.0.1:0"', 'admin_listen = "127.0.0.1:0"']
        lines += ["drain_delay_ms = 0"]
        if self.chance(0.5):
            lines += [f'cors_origins = ["{ORIGIN}"]']
        if self.chance(0.3):
            lines += ['cache_control = "no-cache"', 'cache_control_sitemap = "no-store"']
        if self.chance(0.3):
            lines += ["[limits]", f"document_deadline_ms = {self.random.randint(2000, 9000)}"]
        return lines

    def locales(self) -> list[str]:
        return self.random.sample(LOCALES, self.random.choice([1, 2, 3, 4]))

    def site(self, site: Site) -> list[str]:
        lines = ["[[site]]", f'key = "{site.key}"', f"locales = {json.dumps(site.locales)}"]
        if self.chance(0.9):
            lines += ['front_end_url = "http://{front_end}"']
        if self.chance(0.25):
            lines += ['locale_prefix = "except-default"']
        if self.chance(0.3):
            lines += ['resolve = "documents"']
        if self.chance(0.2):
            lines += ['sitemap_path = "/deep/maps"']
        for _ in range(self.random.randint(1, 6)):
            uid = self.random.choice(list(TYPES))
            template = self.template()
            site.rules.append((uid, template))
            lines += ["[[site.rule]]", f'content_type = "{uid}"']
            lines += self.rule(site, template)
        return lines

    def template(self) -> str:
        names = self.random.sample(["slug", "title", "category.slug", "documentId", "section"], 3)
        segments = ["{locale}"] if self.chance(0.7) else []
        for at in range(self.random.randint(0, 3)):
            name = names[at]
            kinds = [f"{{{name}}}"] * 3 + [self.random.choice(WORDS)] * 3
            kinds += [f"{{{name}}}.html", f"a-{{{name}}}", f"{{{name}?}}", "{publishedAt:year}"]
            segments.append(self.random.choice(kinds))
        if self.chance(0.2):
            segments.append("{*path}")
        return "/" + "/".join(segments)

    def rule(self, site: Site, template: str) -> list[str]:
        lines = [f'template = "{template}"']
        if len(site.locales) > 1 and self.chance(0.15):
            of_locales = ", ".join(
                f'"{locale}" = "{template.replace("articles", f"artikel-{at}")}"'
                for at, locale in enumerate(site.locales[: self.random.randint(1, 4)])
            )
            lines = [f"template = {{ {of_locales} }}"]
        if self.chance(0.15):
            lines += [self.random.choice(['where = { section = "news" }', "where = { on = true }"])]
        if "{slug}" in template and self.chance(0.2):
            limits = ["pattern = '[a-z0-9-]+'", 'values = ["hello", "b"]', 'field = "title"']
            lines += [f"params.slug = {{ {self.random.choice(limits)} }}"]
        if "{*path}" in template:
            ancestors = ', ancestors = "parent"' if self.chance(0.5) else ""
            lines += [f'params.path = {{ field = "slug"{ancestors} }}']
        if self.chance(0.1):
            lines += ["sitemap = false"]
        elif self.chance(0.2):
            lines += ["exclude_when = { noindex = true }"]
        if self.chance(0.3):
            lines += ['modified = "publishedAt"']
        return lines

    def slug(self) -> Any:
        if self.chance(0.75):
            return self.random.choice(["hello", "b", "final", "a-b", "über", "x.html"]) + (
                str(self.random.randrange(50)) if self.chance(0.6) else ""
            )
        return self.random.choice(SLUGS)

    def documents(self, uid: str, locales: list[str]) -> list[Document]:
        count = 1 if uid == SINGLE else self.random.choice([0, 1, 5, 30, 130])
        is_localized = uid != "api::category.category"
        rows = []
        for n in range(count):
            for locale in locales if is_localized else [None]:
                for status in ("published", "draft"):
                    if self.chance(0.2 if status == "published" else 0.6):
                        continue
                    rows.append(self.document(n, locale, status))
        return rows

    def document(self, n: int, locale: str | None, status: str) -> Document:
        row: Document = {"documentId": f"d{n:03}", "status": status, "slug": self.slug()}
        if locale is not None:
            row["locale"] = locale
        row["title"] = self.random.choice(["hello", "b", f"t{n}", None])
        row["section"] = self.random.choice(["news", "sport", None, ""])
        row["category"] = self.random.choice([None, {"slug": "cat"}, {"slug": f"c{n % 3}"}])
        row["parent"] = {"slug": "top", "parent": None} if self.chance(0.3) else None
        row["on"] = self.random.choice([True, False, None])
        row["noindex"] = self.random.choice([True, False, None, None])
        day = self.random.randint(1, 28)
        is_published = status == "published"
        row["publishedAt"] = f"2024-03-{day:02}T10:00:00.000Z" if is_published else None
        row["updatedAt"] = f"2024-04-{day:02}T10:00:00.000Z"
        return row

    # Requests.

    def requests(self, world: World, count: int) -> list[Request]:
        return [self.request(world) for _ in range(count)]

    def request(self, world: World) -> Request:
        route = self.random.choices(
            [*ROUTES, "sitemaps", "other", "broken"], [45, 12, 18, 8, 7, 6, 4]
        )[0]
        if route == "broken":
            return self.broken()
        methods = ["GET", "HEAD", "OPTIONS", "POST", "BREW"]
        method = self.random.choices(methods, [85, 6, 4, 3, 2])[0]
        if route == "sitemaps":
            return self.build(method, self.sitemap_file(world))
        if route == "other":
            return self.build(method, self.random.choice(OTHER_TARGETS))
        query = self.query(route, world)
        token = VALIDATE_TOKEN if "validate=" in query else DRAFT_TOKEN
        needs_token = "validate=" in query or "status=" in query
        return self.build(method, f"{route}?{query}", token if needs_token else None)

    def build(self, method: str, target: str, token: str | None = None) -> Request:
        lines = [f"{method} {target} HTTP/1.1", "Host: localhost"]
        if token and self.chance(0.9):
            lines.append(f"Authorization: Bearer {token}")
        optional = {
            "Origin": [ORIGIN, "https://other.example", "null"],
            "Accept-Encoding": ["gzip", "identity", "gzip;q=0", "br, gzip;q=0.5", "*"],
            "X-Request-Id": ["abc-1", "not valid", "a" * 65],
            "If-None-Match": ["*", '"x"', 'W/"x", "y"'],
            "If-Modified-Since": ["Sun, 22 Nov 2037 00:00:00 GMT", "nonsense"],
            "Accept": ["text/html", "application/xml"],
            "Authorization": ["Bearer x", "Basic x", f"Bearer {VALIDATE_TOKEN}"],
            "Access-Control-Request-Method": ["GET", "PUT"],
            "Range": ["bytes=0-10"],
        }
        for name, values in optional.items():
            if self.chance(0.08):
                lines.append(f"{name}: {self.random.choice(values)}")
        # The bytes of a target are not always those of a URL.
        head = "\r\n".join(lines) + "\r\n\r\n"
        return Request(head.encode("utf-8", "surrogatepass"))

    def broken(self) -> Request:
        raw = self.random.choice(BROKEN_HEADS)
        return Request(raw.encode("latin-1"), is_last=True)

    def query(self, route: str, world: World) -> str:
        site = self.random.choice(world.sites)
        pairs: list[tuple[str, str]] = []
        if route in ("/api/get-content-type", "/api/resolve"):
            pairs += [("pathname", self.pathname(site, world))]
        if route == "/api/frontend-url":
            uid = self.random.choice(list(TYPES)) if self.chance(0.95) else "api::no.no"
            pairs += [("uid", uid), ("documentId", f"d{self.random.randrange(35):03}")]
            if self.chance(0.3):
                pairs += [("status", self.random.choice(["draft", "published", "modified", "x"]))]
        if route == "/api/build-sitemap":
            used = [uid for uid, _ in site.rules]
            uid = self.random.choice(used) if self.chance(0.9) else "api::no.no"
            pairs += [("contentType", uid)]
            if self.chance(0.03):
                pairs += [("validate", self.random.choice(["true", "1", "yes"]))]
            if self.chance(0.4):
                pairs += [("xml", self.random.choice(["true", "1", "FALSE", "yes"]))]
        if route != "/api/frontend-url" or self.chance(0.5):
            pairs += [("site", site.key)]
        if self.chance(0.4):
            locale = self.random.choice([*site.locales, "en", "xx", "not a locale", "null"])
            pairs += [("locale", locale)]
        if self.chance(0.2):
            pairs += [("compact", self.random.choice(["true", "0", "maybe"]))]
        if self.chance(0.3):
            pairs += [("debug", self.random.choice(["1", "true"]))]
        return self.mutated(pairs)

    def mutated(self, pairs: list[tuple[str, str]]) -> str:
        if self.chance(0.04):
            pairs.remove(self.random.choice(pairs))
        if pairs and self.chance(0.03):
            pairs.append(self.random.choice(pairs))
        if self.chance(0.04):
            pairs.append(self.random.choice([("x", "%zz"), ("site[]", "a"), ("locale", "%ff")]))
            return "&".join(f"{name}={value.replace(' ', '+')}" for name, value in pairs)
        self.random.shuffle(pairs)
        safe = "/" if self.chance(0.5) else ""
        return urllib.parse.urlencode(pairs, safe=safe, errors="surrogatepass")

    def pathname(self, site: Site, world: World) -> str:
        """Mostly one that a rule of the site could build."""
        _, template = self.random.choice(site.rules)
        segments = []
        for segment in template.strip("/").split("/"):
            segments += [self.segment(segment, site, world)]
        path = "/" + "/".join(segments)
        if self.chance(0.15):
            path = self.random.choice(
                [path + "/", "/" + path, path + "?x=1", path.upper(), path[1:], path + "/more", "/"]
            )
        return path[:2100]

    def segment(self, segment: str, site: Site, world: World) -> str:
        if segment == "{locale}":
            return self.random.choice([*site.locales, "en", "xx"])
        before, brace, rest = segment.partition("{")
        if not brace:
            return urllib.parse.quote(segment) if self.chance(0.5) else segment
        _, _, after = rest.partition("}")
        return before + self.value(world) + after

    def value(self, world: World) -> str:
        rows = self.random.choice(list(world.content.values()))
        values = [self.slug(), "hello", "2024", "news", "cat", "d001"]
        if rows:
            values += [row["slug"] for row in self.random.choices(rows, k=3)]
        value = str(self.random.choice(values))
        return urllib.parse.quote(value, errors="surrogatepass") if self.chance(0.8) else value[:50]

    def sitemap_file(self, world: World) -> str:
        site = self.random.choice(world.sites)
        uid = self.random.choice([uid for uid, _ in site.rules])
        name = uid.replace("::", ".")
        files = ["index.xml", "robots.txt", f"{name}-1.xml", f"{name}-2.xml", "x.xml", ""]
        return f"/sitemaps/{site.key}/{self.random.choice(files)}"

    # Settings that may be wrong.

    def mutated_settings(self, text: str) -> str:
        lines = text.splitlines()
        for _ in range(self.random.choice([0, 1, 1, 2, 3])):
            at = self.random.randrange(len(lines))
            kind = self.random.randrange(6)
            if kind == 0:
                del lines[at]
            elif kind == 1:
                lines.insert(at, lines[at])
            elif kind == 2:
                lines.insert(at, self.random.choice(ODD_LINES))
            elif kind == 3 and "=" in lines[at]:
                name = lines[at].split("=")[0]
                lines[at] = f"{name}= {self.random.choice(ODD_VALUES)}"
            elif kind == 4:
                lines[at] = lines[at].replace(*self.random.choice(ODD_REPLACEMENTS))
            else:
                other = self.random.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            if not lines:
                return ""
        return "\n".join(lines) + "\n"


OTHER_TARGETS = [
    "/livez",
    "/readyz",
    "/",
    "*",
    "/api",
    "/api/get-content-type/",
    "//api/resolve",
    "/api/../livez",
    "/metrics",
    "/hooks/cms",
    "http://other.example/livez",
    "/api/get-content-type?" + "&".join(f"x{n}=1" for n in range(129)),
    "/api/get-content-type?site=" + "s" * 70,
    "/" + "a" * 9000,
    "/%61pi/resolve",
    "/sitemaps",
    "/favicon.ico",
]
BROKEN_HEADS = [
    "GET /livez HTTP/1.1\r\n\r\n",
    "GET /livez HTTP/1.0\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET /livez HTTP/2.0\r\nHost: a\r\n\r\n",
    "GET  /livez HTTP/1.1\r\nHost: a\r\n\r\n",
    "nonsense\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: a\r\n" + "".join(f"x{n}: 1\r\n" for n in range(70)) + "\r\n",
    "GET /livez HTTP/1.1\r\nHost: a\r\nx: " + "y" * 40_000 + "\r\n\r\n",
    "GET /api/get-content-type?site=main&pathname=/\xe4 HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /hooks/cms HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    "POST /hooks/cms HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nContent-Length: 2\r\n\r\n{}",
    f"POST /hooks/cms HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {HOOK_SECRET}\r\n"
    "Content-Length: 3\r\n\r\nnot",
    f"POST /hooks/cms HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {HOOK_SECRET}\r\n"
    'Content-Length: 55\r\n\r\n{"event":"entry.publish","uid":"api::no.no","entry":{}}',
    f"POST /hooks/cms HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {HOOK_SECRET}\r\n"
    'Content-Length: 34\r\n\r\n{"uid":"api::page.page","entry":1}',
    "PUT /api/resolve HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody",
]
ODD_LINES = [
    "nonsense = true",
    "[unknown]",
    "[[site]]",
    "[[site.rule]]",
    "[limits]\nrequests = 0",
    "[validation]\nreuse_seconds = -1",
    "[log]\nlevel = 'loud'",
    "[traces]\nsample_ratio = 2",
    "[snapshots]\nhard_seconds = 1",
    "= 3",
]
ODD_VALUES = [
    '""',
    "0",
    "-1",
    "true",
    "[]",
    "{}",
    '"x"',
    "99999999999999999999",
    '["en", "en"]',
    '"/{slug}/{slug}"',
    '"/{"',
    '"ftp://x"',
    '"http://user@x/"',
    "1.5",
]
ODD_REPLACEMENTS = [
    ("{slug}", "{locale}"),
    ("}", ""),
    ("/", "//"),
    ('"', ""),
    ("::", ":"),
    ("en", "e n"),
    ("{", "{{"),
    ("slug", "sl ug"),
    ("http", "HTTP"),
    ("=", "=="),
]
