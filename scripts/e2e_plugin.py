#!/usr/bin/env python3
"""Drives the plugin of `plugins/strapi` in the admin panel of a real Strapi 5, in a browser.

Packs the plugin, installs it into the fixture `tests/strapi`, builds the admin panel (a minute, 2
GB of memory), starts Strapi and the service, and runs `plugins/strapi/e2e/journey.mjs` in headless
Chromium: panel, list, widget, page, settings, roles, a service that fails, and pictures of each in
light and dark. Prints `N passed, N failed` for a Strapi whose settings are stored by the settings
page, and for one whose settings are in its environment. `--editor` instead follows an editor of a
large site: a category of 3,000 pages, 7,000 problems, and redirects that are documents.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from common.build import BINARY
from common.client import free_port
from strapi import plugin
from strapi.fixture import CANNOT_SET_UP, READ_TOKEN, Strapi
from strapi.service import Service

# More than a page of Strapi's list.
ARTICLES = 150
TYPES = {
    "api::article.article": "/{locale}/articles/{slug}",
    "api::category.category": "/{locale}/categories/{slug}",
    "api::page.page": "/{locale}/{slug}",
    "plugin::cms.landing": "/{locale}/landings/{slug}",
    "plugin::cms.press-release": "/press/{slug}",
    "api::homepage.homepage": "/{locale}",
}
SECRETS = {
    "AUTH__DRAFT_TOKEN": "canary-of-the-draft-token",
    "AUTH__VALIDATE_TOKEN": "canary-of-the-validate-token",
    "HOOKS__SECRET": "canary-of-the-hook-secret",
}
# A second site with redirects in the CMS, whose articles are below their categories, and whose
# homepage needs a slug.
SECOND = """
[[site]]
key = "second"
resolve = "documents"
front_end_url = "FRONTEND"
locales = ["en", "de", "fr"]
[[site.rule]]
content_type = "api::article.article"
template = "/{locale}/{category.slug}/{slug}"
[[site.rule]]
content_type = "api::homepage.homepage"
template = "/{locale}/{slug}"
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
document = "target"
status = "code"
force = "force"
"""
# Of the editor: paths of articles that read the slug of their category, and redirects in the CMS.
EDITOR_ARTICLE = "/{locale}/{category.slug}/{slug}"
EDITOR = """
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
document = "target"
status = "code"
force = "force"
"""
# Of the journey: those of a Strapi whose settings are stored, and the others.
STORED = "stored"
SHORT = "editViews,requests,lists,reports,newRedirect,roles,agents"
LONG = f"{SHORT},sites,hostile,failures,pictures"


def settings(strapi: str, frontend: str, is_editor: bool) -> str:
    types = TYPES | ({"api::article.article": EDITOR_ARTICLE} if is_editor else {})
    lines = ["[cms]", 'source = "strapi"', f'url = "{strapi}"']
    lines += ["[[content_type]]", 'uid = "api::homepage.homepage"']
    lines += ['endpoint = "homepage"', 'kind = "single"']
    lines += ["[[site]]", 'key = "main"', 'resolve = "documents"']
    lines += [f'front_end_url = "{frontend}"', 'locales = ["en", "de", "fr"]']
    for uid, template in types.items():
        lines += ["[[site.rule]]", f'content_type = "{uid}"', f'template = "{template}"']
    return "\n".join(lines) + (EDITOR if is_editor else SECOND.replace("FRONTEND", frontend))


class Ports:
    """Free ports: of the service, of the proxy in front of it, and of the frontend."""

    def __init__(self) -> None:
        self.service, self.proxy, self.frontend = free_port(), free_port(), free_port()

    def stored(self) -> dict[str, str]:
        """Variables of a Strapi whose address and tokens are on the settings page."""
        own = {"SERVE_ADMIN": "true", "MCP": "true"}
        return own | {"FRONTEND_MAP_HOOK_SECRET": SECRETS["HOOKS__SECRET"]}

    def configured(self) -> dict[str, str]:
        """Variables of a Strapi whose requests go through the proxy, except for webhooks."""
        return self.stored() | {
            "FRONTEND_MAP_URL": f"http://127.0.0.1:{self.proxy}",
            "FRONTEND_MAP_DRAFT_TOKEN": SECRETS["AUTH__DRAFT_TOKEN"],
            "FRONTEND_MAP_VALIDATE_TOKEN": SECRETS["AUTH__VALIDATE_TOKEN"],
            "FRONTEND_MAP_HOOK": f"http://127.0.0.1:{self.service}/hooks/cms",
            "PREVIEW_SECRET": "canary-of-the-preview",
            "PREVIEW_ORIGINS": f"http://127.0.0.1:{self.frontend}",
        }

    def journey(self, strapi: str) -> dict[str, str]:
        """Variables of the journey."""
        canaries = [*SECRETS.values(), f"127.0.0.1:{self.service}"]
        return {
            "STRAPI": strapi,
            "SERVICE": f"http://127.0.0.1:{self.service}",
            "PROXY_PORT": str(self.proxy),
            "FRONTEND_PORT": str(self.frontend),
            "CANARIES": ",".join(canaries),
            "DRAFT_TOKEN": SECRETS["AUTH__DRAFT_TOKEN"],
            "VALIDATE_TOKEN": SECRETS["AUTH__VALIDATE_TOKEN"],
        }


def prepared(strapi: Strapi, folder: pathlib.Path, package: pathlib.Path | None) -> None:
    """The fixture with the plugin in its admin panel."""
    strapi.run("install")
    package = package or plugin.packed(folder)
    print(f"package: {package.stat().st_size} bytes", flush=True)
    plugin.install(package)
    print(f"build of the admin panel: {plugin.build_admin():.0f} s", flush=True)


class Run:
    """The journey, in parts."""

    def __init__(
        self,
        binary: pathlib.Path,
        folder: pathlib.Path,
        strapi: Strapi,
        variables: dict[str, str],
    ) -> None:
        self.binary, self.folder, self.strapi = binary, folder, strapi
        self.ports = Ports()
        self.variables = variables

    def driven(self, parts: str, strapi: dict[str, str]) -> int:
        """Runs parts with a Strapi that has these variables; the status of the journey."""
        self.strapi.environment |= strapi
        self.strapi.start()
        frontend = f"http://127.0.0.1:{self.ports.frontend}"
        text = settings(self.strapi.url, frontend, parts == "editor")
        overrides = SECRETS | {"SERVER__LISTEN": f"127.0.0.1:{self.ports.service}"}
        service = Service(
            self.binary, self.folder, self.strapi.url, READ_TOKEN, overrides=overrides, text=text
        )
        with service:
            variables = {**os.environ, **self.variables, **self.ports.journey(self.strapi.url)}
            command = ["node", str(plugin.PLUGIN / "e2e/journey.mjs")]
            done = subprocess.run(command, env={**variables, "PARTS": parts}, check=False)
        self.strapi.stop()
        return done.returncode


def arguments_of_command() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=BINARY)
    parser.add_argument("--package", type=pathlib.Path, help="a package that is built already")
    parser.add_argument("--short", action="store_true", help="without failures and pictures")
    parser.add_argument("--editor", action="store_true", help="the editor of a large site alone")
    parser.add_argument("--parts", help="names of parts, separated by commas")
    parser.add_argument("--pictures", type=pathlib.Path, help="a folder for the pictures")
    return parser.parse_args()


def main() -> None:
    arguments = arguments_of_command()
    binary = arguments.binary.resolve()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not binary.is_file() or not chromium:
        print(f"{binary} is missing" if chromium else "chromium is not installed")
        sys.exit(CANNOT_SET_UP)
    long = "editor" if arguments.editor else f"{STORED},{LONG}"
    parts = arguments.parts or (SHORT if arguments.short else long)
    configured = ",".join(part for part in parts.split(",") if part != STORED)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        large = {"SEED_LARGE_CATEGORY": "true"} if arguments.editor else {}
        strapi = Strapi(ARTICLES, bulk=True, variables=large)
        prepared(strapi, folder, arguments.package)
        stack.callback(strapi.run, "reset")
        pictures = arguments.pictures or folder / "pictures"
        pictures.mkdir(parents=True, exist_ok=True)
        run = Run(binary, folder, strapi, {"CHROMIUM": chromium, "PICTURES": str(pictures)})
        status = run.driven(STORED, run.ports.stored()) if STORED in parts.split(",") else 0
        status |= run.driven(configured, run.ports.configured()) if configured else 0
    sys.exit(status)


if __name__ == "__main__":
    main()
