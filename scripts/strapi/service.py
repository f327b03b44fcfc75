"""The binary in front of the fixture, logging all it can."""

import contextlib
import http.client
import json
import pathlib
import re
import tempfile
import threading
import urllib.parse
from collections.abc import Mapping
from typing import NamedTuple

from common import service

BASE = "https://www.example.com"
LOCALES = ["en", "de", "fr"]
ARTICLE, CATEGORY, PAGE = "api::article.article", "api::category.category", "api::page.page"
HOMEPAGE = "api::homepage.homepage"
LANDING, PRESS = "plugin::cms.landing", "plugin::cms.press-release"
MAIN = {
    ARTICLE: "/{locale}/articles/{slug}",
    "api::category.category": "/{locale}/categories/{slug}",
    "api::page.page": "/{locale}/{slug}",
    "plugin::cms.landing": "/{locale}/landings/{slug}",
    "plugin::cms.press-release": "/press/{slug}",
    "api::homepage.homepage": "/{locale}",
}
# A second site, for what one rule a content type cannot show.
MORE = {
    ARTICLE: "/{locale}/{category.slug}/{slug}",
    "api::category.category": "/by-id/{locale}/{documentId}",
    "plugin::cms.press-release": "/{locale}/press/{slug}",
    "api::homepage.homepage": "/{locale}/{slug}",
}
BY_DOCUMENTS = 'resolve = "documents"'
SITES = {"main": MAIN, "more": MORE}
# A third site, for rules that say more than a template.
RICH = f"""
[[site]]
key = "rich"
front_end_url = "{BASE}"
locales = {json.dumps(LOCALES)}
locale_prefix = "except-default"
[[site.rule]]
content_type = "api::page.page"
template = "/{{locale}}/{{*path}}"
params.path = {{ field = "slug", ancestors = "parent" }}
[[site.rule]]
content_type = "plugin::cms.press-release"
template = "/press/{{publishedAt:year}}/{{publishedAt:month}}/{{slug}}"
[[site.rule]]
content_type = "{ARTICLE}"
template = {{ en = "/{{locale}}/third/{{slug}}", de = "/{{locale}}/dritte/{{slug}}" }}
params.slug = {{ pattern = "[^ ]+" }}
where = {{ "category.slug" = "category-3" }}
[[site.rule]]
content_type = "{ARTICLE}"
template = "/{{locale}}/vierte/{{slug}}"
where = {{ "category.slug" = "kategorie-4" }}
"""
SNAPSHOTS = sum(map(len, SITES.values())) + len(set(re.findall(r'content_type = "([^"]+)"', RICH)))


class Response(NamedTuple):
    """Names of headers in lower case."""

    status: int
    headers: dict[str, str]
    body: str


def settings(strapi: str, declares_single_type: bool, by_documents: bool) -> str:
    lines = ["[cms]", 'source = "strapi"', f'url = "{strapi}"']
    for key, rules in SITES.items():
        lines += ["[[site]]", f'key = "{key}"', f'front_end_url = "{BASE}"']
        lines += [f"locales = {json.dumps(LOCALES)}"]
        for uid, template in rules.items():
            lines += ["[[site.rule]]", f'content_type = "{uid}"', f'template = "{template}"']
    lines.append(RICH)
    # A token that may not read the schema cannot show that this is a single type.
    if declares_single_type:
        lines += ["[[content_type]]", 'uid = "api::homepage.homepage"']
        lines += ['endpoint = "homepage"', 'kind = "single"']
    text = "\n".join(lines) + "\n"
    return text.replace("[[site]]\n", f"[[site]]\n{BY_DOCUMENTS}\n") if by_documents else text


class Service(service.Service):
    """`text` is that of the settings file, `log` the level of the log."""

    def __init__(
        self,
        binary: pathlib.Path,
        folder: pathlib.Path,
        strapi: str,
        token: str,
        *,
        declares_single_type: bool = True,
        by_documents: bool = False,
        log: str = "trace",
        overrides: Mapping[str, object] | None = None,
        text: str | None = None,
    ) -> None:
        self.binary, self.folder = binary, pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.settings = self.folder / "settings.toml"
        text = text or settings(strapi, declares_single_type, by_documents)
        self.settings.write_text(text, encoding="utf-8")
        super().__init__(
            self.settings,
            {"CMS__TOKEN": token} | dict(overrides or {}),
            binary=binary,
            variables={"RUST_LOG": log},
            log=self.folder / "log",
        )
        self.local = threading.local()

    def get(self, path: str, headers: dict[str, str] | None = None, **params: str) -> Response:
        """Over the thread's own connection, once more where that was closed."""
        target = path + ("?" + urllib.parse.urlencode(params) if params else "")
        kept: http.client.HTTPConnection | None = getattr(self.local, "connection", None)
        if kept is not None:
            try:
                return request(kept, target, headers)
            except (http.client.HTTPException, ConnectionError):
                kept.close()
        self.local.connection = http.client.HTTPConnection(self.address, timeout=130)
        return request(self.local.connection, target, headers)

    def post(self, path: str, body: object, **params: str) -> Response:
        """JSON, over a connection of its own."""
        connection = http.client.HTTPConnection(self.address, timeout=130)
        target = path + ("?" + urllib.parse.urlencode(params) if params else "")
        with contextlib.closing(connection):
            return request(connection, target, method="POST", body=json.dumps(body))

    def __exit__(self, *error: object) -> None:
        self.stop()


def request(
    connection: http.client.HTTPConnection,
    target: str,
    headers: dict[str, str] | None = None,
    method: str = "GET",
    body: str | None = None,
) -> Response:
    connection.request(method, target, body=body, headers=headers or {})
    response = connection.getresponse()
    found = {name.lower(): value for name, value in response.headers.items()}
    return Response(response.status, found, response.read().decode("utf-8"))
