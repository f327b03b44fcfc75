#!/usr/bin/env python3
"""Drives the plugin of `plugins/strapi` in the admin panel of a real Strapi 5, in a browser.

Packs the plugin, installs it into the fixture `tests/strapi`, builds the admin panel (a minute, 2
GB of memory), starts Strapi and the service, and runs `plugins/strapi/e2e/journey.mjs` in headless
Chromium: panel, list, widget, page, settings, roles, a service that fails, and pictures of each in
light and dark. Ends with `N passed, N failed`, and the status of the journey.
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


def settings(strapi: str, port: int, frontend: int) -> str:
    lines = ["[server]", f'listen = "127.0.0.1:{port}"', 'admin_listen = ""']
    lines += ["[cms]", 'source = "strapi"', f'url = "{strapi}"']
    lines += ["[[content_type]]", 'uid = "api::homepage.homepage"']
    lines += ['endpoint = "homepage"', 'kind = "single"']
    lines += ["[[site]]", 'key = "main"', 'resolve = "documents"']
    lines += [f'front_end_url = "http://127.0.0.1:{frontend}"', 'locales = ["en", "de", "fr"]']
    for uid, template in TYPES.items():
        lines += ["[[site.rule]]", f'content_type = "{uid}"', f'template = "{template}"']
    return "\n".join(lines) + "\n"


class Ports:
    """Free ports: of the service, of the proxy in front of it, and of the frontend."""

    def __init__(self) -> None:
        self.service, self.proxy, self.frontend = free_port(), free_port(), free_port()

    def variables(self) -> dict[str, str]:
        """Those of Strapi, whose requests go through the proxy, except for webhooks."""
        return {
            "SERVE_ADMIN": "true",
            "FRONTEND_MAP_URL": f"http://127.0.0.1:{self.proxy}",
            "FRONTEND_MAP_DRAFT_TOKEN": SECRETS["AUTH__DRAFT_TOKEN"],
            "FRONTEND_MAP_VALIDATE_TOKEN": SECRETS["AUTH__VALIDATE_TOKEN"],
            "FRONTEND_MAP_HOOK": f"http://127.0.0.1:{self.service}/hooks/cms",
            "FRONTEND_MAP_HOOK_SECRET": SECRETS["HOOKS__SECRET"],
            "PREVIEW_SECRET": "canary-of-the-preview",
            "PREVIEW_ORIGINS": f"http://127.0.0.1:{self.frontend}",
        }

    def journey(self, strapi: str, chromium: str, pictures: pathlib.Path) -> dict[str, str]:
        """Those of the journey."""
        canaries = [*SECRETS.values(), f"127.0.0.1:{self.service}"]
        return {
            "STRAPI": strapi,
            "SERVICE": f"http://127.0.0.1:{self.service}",
            "PROXY_PORT": str(self.proxy),
            "FRONTEND_PORT": str(self.frontend),
            "PICTURES": str(pictures.resolve()),
            "CHROMIUM": chromium,
            "CANARIES": ",".join(canaries),
        }


def prepared(strapi: Strapi, folder: pathlib.Path) -> None:
    """The fixture with the plugin in its admin panel."""
    strapi.run("install")
    package = plugin.packed(folder)
    print(f"package: {package.stat().st_size} bytes", flush=True)
    plugin.install(package)
    print(f"build of the admin panel: {plugin.build_admin():.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=BINARY)
    parser.add_argument("--pictures", type=pathlib.Path, help="a folder for the pictures")
    parser.add_argument("--only", default="", help="names of parts, separated by commas")
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not binary.is_file() or not chromium:
        print(f"{binary} is missing" if chromium else "chromium is not installed")
        sys.exit(CANNOT_SET_UP)
    ports = Ports()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        strapi = Strapi(ARTICLES, bulk=False, variables=ports.variables())
        prepared(strapi, folder)
        stack.callback(strapi.run, "reset")
        strapi.start()
        text = settings(strapi.url, ports.service, ports.frontend)
        secrets: dict[str, object] = {**SECRETS}
        service = Service(binary, folder, strapi.url, READ_TOKEN, variables=secrets, text=text)
        stack.enter_context(service)
        pictures = arguments.pictures or folder / "pictures"
        pictures.mkdir(parents=True, exist_ok=True)
        journey = ports.journey(strapi.url, chromium, pictures) | {"ONLY": arguments.only}
        command = ["node", str(plugin.PLUGIN / "e2e/journey.mjs")]
        status = subprocess.run(command, env={**os.environ, **journey}, check=False).returncode
    sys.exit(status)


if __name__ == "__main__":
    main()
