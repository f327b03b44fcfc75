"""The binary in front of the fixture, logging all it can."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import urllib.parse
from types import TracebackType
from typing import NamedTuple, Self

from common.process import pipe

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
    lines = ["[server]", 'listen = "127.0.0.1:0"', 'admin_listen = ""']
    lines += ["[cms]", 'source = "strapi"', f'url = "{strapi}"']
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


class Service:
    """Stopped at the end of its `with` block. `variables` are settings by environment, `text` is
    that of the settings file."""

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
        variables: dict[str, object] | None = None,
        text: str | None = None,
    ) -> None:
        self.binary = binary
        own = pathlib.Path(tempfile.mkdtemp(dir=folder))
        file = own / "settings.toml"
        text = text or settings(strapi, declares_single_type, by_documents)
        file.write_text(text, encoding="utf-8")
        self.log_file = own / "log"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRONT")}
        environment |= {"RUST_LOG": log, "FRONTEND_MAP__CMS__TOKEN": token}
        for name, value in (variables or {}).items():
            environment[f"FRONTEND_MAP__{name}"] = str(value)
        with self.log_file.open("wb") as out:
            self.process = subprocess.Popen(
                [binary, "--config", file, "serve"],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=out,
            )
        self.address = pipe(self.process.stdout).readline().decode().strip()
        if not re.fullmatch(r"127\.0\.0\.1:\d+", self.address):
            self.stop()
            raise SystemExit(f"the service did not start: {self.address!r}\n{self.log()[-4000:]}")
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

    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> int | None:
        """The exit status; None: it had to be killed."""
        self.process.terminate()
        try:
            return self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
