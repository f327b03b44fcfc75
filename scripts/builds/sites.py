"""Worlds with hosts, slashes, segments, pages and own paths, whose settings older builds refuse."""

import urllib.parse

from builds.client import Request
from builds.generate import TYPES, VALIDATE_TOKEN, Generator, Site, World
from builds.peers import Document

# Nothing listens there, and a refused connection is a result of a URL check.
OTHER_HOST = "127.0.0.2:9"
PAGES = ["/{locale}/contact", "/help", "/{locale}/hello", "/{locale}/own/path", "/b", "/{locale}"]
OWN_PATHS = ["own/path", "/own/path", "hello", "a//b", "", "  ", "/", "über uns", "articles/b", 7]
HOSTS = ["{front_end}", OTHER_HOST, "127.0.0.2", "EXAMPLE.com", "a b", "[::1]:80", "x/y"]
TABLES = ["/api/pages", "/api/problems", "/api/frontend-urls"]


class SiteGenerator(Generator):
    def site(self, site: Site) -> list[str]:
        lines = super().site(site)
        at = lines.index("[[site.rule]]")
        head, rules = lines[:at], lines[at:]
        if self.chance(0.4):
            head += [f'trailing_slash = "{self.random.choice(["always", "never"])}"']
        if self.chance(0.3):
            segments = ", ".join(
                f'{{ code = "{locale}", segment = "in-{locale}" }}' for locale in site.locales
            )
            head = [f"locales = [{segments}]" if "locales =" in line else line for line in head]
        if self.chance(0.4):
            head = [self.by_locale(site) if "front_end_url" in line else line for line in head]
        if 'resolve = "documents"' in head:
            rules = [text for line in rules for text in self.with_path_field(line)]
        if self.chance(0.5):
            for n, path in enumerate(self.random.sample(PAGES, self.random.randint(1, 3))):
                rules += ["[[site.page]]", f'name = "page-{n}"', f'path = "{path}"']
                rules += ["sitemap = false"] if self.chance(0.3) else []
                rules += ["lastmod = 2024-03-06"] if self.chance(0.3) else []
        return head + rules

    def by_locale(self, site: Site) -> str:
        bases = ["http://{front_end}", f"http://{OTHER_HOST}"]
        # Sometimes a locale has none.
        named = site.locales if self.chance(0.8) else site.locales[1:]
        texts = (f'"{locale}" = "{self.random.choice(bases)}"' for locale in named)
        return f"front_end_url = {{ {', '.join(texts)} }}"

    def with_path_field(self, line: str) -> list[str]:
        has_field = line.startswith("content_type") and self.chance(0.5)
        return [line, 'path_field = "customPath"'] if has_field else [line]

    def document(self, n: int, locale: str | None, status: str) -> Document:
        row = super().document(n, locale, status)
        values = [None] * 8 + [f"own-{n}", f"{row['slug']}", *OWN_PATHS]
        row["customPath"] = self.random.choice(values)
        return row

    def request(self, world: World) -> Request:
        # Tags of tables depend on the address of the CMS, which is another one for each build.
        if world.is_strapi or not self.chance(0.12):
            return super().request(world)
        site, route = self.random.choice(world.sites), self.random.choice(TABLES)
        pairs = [("site", site.key)]
        if route == "/api/pages":
            uids = [uid for uid, _ in site.rules] + ["pages"]
            pairs += [("contentType", self.random.choice(uids))] if self.chance(0.5) else []
            pairs += [("unlisted", "true")] if self.chance(0.3) else []
        if route == "/api/frontend-urls":
            ids = ",".join(f"d{self.random.randrange(35):03}" for _ in range(5))
            locale = self.random.choice(site.locales)
            uid = self.random.choice(list(TYPES))
            pairs += [("uid", uid), ("documentId", ids), ("locale", locale)]
        return self.build("GET", f"{route}?{urllib.parse.urlencode(pairs)}", VALIDATE_TOKEN)

    def pathname(self, site: Site, world: World) -> str:
        if not self.chance(0.25):
            return super().pathname(site, world)
        locale = self.random.choice(site.locales)
        segment = self.random.choice(["", f"/{locale}", f"/in-{locale}"])
        own = str(self.random.choice([*OWN_PATHS, f"own-{self.random.randrange(30)}"]))
        page = self.random.choice(PAGES).replace("/{locale}", segment)
        path = self.random.choice([page, f"{segment}/{own.removeprefix('/')}"])
        return urllib.parse.quote(path) + ("/" if self.chance(0.3) else "")

    def query(self, route: str, world: World) -> str:
        text = super().query(route, world)
        if route in ("/api/get-content-type", "/api/resolve") and self.chance(0.4):
            text += f"&host={urllib.parse.quote(self.random.choice(HOSTS))}"
        return text

    def sitemap_file(self, world: World) -> str:
        target = super().sitemap_file(world)
        folder, _, file = target.rpartition("/")
        if self.chance(0.3):
            file = self.random.choice(["pages-1.xml", "sitemap.xml"])
        return f"{folder}/{OTHER_HOST}/{file}" if self.chance(0.3) else f"{folder}/{file}"
