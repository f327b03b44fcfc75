"""A custom token that loses a permission on a related type, and gets it back.

The permissions are changed as an administrator changes them: by Strapi's admin API.
"""

import json
import pathlib
import subprocess
import time
from collections.abc import Callable
from typing import Any

from strapi.admins import super_admin
from strapi.checks import Checks
from strapi.fixture import Oracle
from strapi.responses import check_set
from strapi.service import ARTICLE, MAIN, MORE, Response, Service

CATEGORY, SINGLE = "api::category.category", "api::homepage.homepage"
SCHEMA = "plugin::content-type-builder.content-types.getContentType"
MISSING = f"the token may not read the relation `category` of {ARTICLE}: grant find on {CATEGORY}"
FAILS = 'detail="the CMS fails"'
# A hang guard, in seconds.
PATIENCE = 60


class Token:
    """A custom API token of the administrator."""

    def __init__(self, strapi: str, name: str, permissions: list[str]) -> None:
        self.admin, self.name = super_admin(strapi), name
        settings = {"lifespan": None} | self.settings(permissions)
        made = self.admin.must("POST", "/admin/api-tokens", settings)
        self.id, self.key = made["id"], made["accessKey"]

    def settings(self, permissions: list[str]) -> dict[str, Any]:
        # A change of a token may not have a `lifespan`.
        token = {"name": self.name, "description": "", "type": "custom"}
        return token | {"permissions": permissions}

    def grant(self, permissions: list[str]) -> None:
        self.admin.must("PUT", f"/admin/api-tokens/{self.id}", self.settings(permissions))


def all_permissions() -> list[str]:
    find = [f"{uid}.find" for uid in MAIN]
    # A single type has no list, so no document is found in it.
    find_one = [f"{uid}.findOne" for uid in MAIN if uid != SINGLE]
    return [SCHEMA, *find, *find_one]


def lists(service: Service) -> Response:
    return service.get("/api/build-sitemap", site="more", contentType=ARTICLE)


def until(
    checks: Checks, name: str, service: Service, holds: Callable[[Response], bool]
) -> Response:
    """The first list for which it holds."""
    begun = time.monotonic()
    while not holds(response := lists(service)) and time.monotonic() - begun < PATIENCE:
        time.sleep(0.05)
    checks.check(f"permissions: {name}", holds(response), response[:2])
    print(f"permissions: {name}: {time.monotonic() - begun:.1f} s", flush=True)
    return response


def is_marked(response: Response) -> bool:
    return FAILS in response.headers.get("cache-status", "")


def check_permissions(
    checks: Checks, token: Token, start: Callable[[], Service], oracle: Oracle
) -> None:
    """Before, without the permission on categories, and with it again."""
    service = start()
    expected = set(oracle.sitemap(ARTICLE, MORE[ARTICLE]))
    good = lists(service)
    checks.equal("permissions: at first", good.status, 200)
    check_set(checks, "permissions: at first", set(json.loads(good.body)["data"]["urls"]), expected)
    rows = oracle.documents(ARTICLE, MORE[ARTICLE])
    row = next(row for row in rows if row["status"] == "published" and "path" in row)
    params = {key: row[key] for key in ("documentId", "locale")}

    def url() -> Response:
        return service.get("/api/frontend-url", site="more", uid=ARTICLE, **params)

    good_url = url()
    checks.equal("permissions: URL at first", good_url.status, 200)
    maps = service.folder / "maps"
    checks.equal("permissions: sitemap at first", write(service, token, maps).returncode, 0)
    files = contents(maps)
    checks.check("permissions: files at first", len(files) > 2, files.keys())

    lost = [action for action in all_permissions() if not action.startswith(CATEGORY)]
    token.grant(lost)
    marked = until(checks, "lost: the snapshot is marked", service, is_marked)
    checks.equal("permissions: lost: the list", (marked.status, marked.body), (200, good.body))
    stale = url()
    checks.equal("permissions: lost: the URL", (stale.status, stale.body), (200, good_url.body))
    checks.check("permissions: lost: the URL is marked", is_marked(stale), stale.headers)
    checks.check("permissions: lost: the log", MISSING in service.log(), service.log()[-2000:])
    cold = start()
    for response in (
        lists(cold),
        cold.get("/api/frontend-url", site="more", uid=ARTICLE, **params),
    ):
        error = json.loads(response.body)["error"]
        failed = (response.status, error["name"], MISSING in error["message"])
        checks.equal("permissions: lost: no snapshot", failed, (502, "BadGatewayError", True))
    # The other site reads no category.
    other = cold.get("/api/build-sitemap", site="main", contentType=ARTICLE)
    checks.equal("permissions: lost: another site", other.status, 200)
    ended = write(service, token, maps)
    found = (ended.returncode, MISSING in ended.stderr)
    checks.equal("permissions: lost: sitemap", found, (1, True))
    checks.check("permissions: lost: the files are left", contents(maps) == files)

    token.grant(all_permissions())
    fresh = until(checks, "back: the snapshot is not marked", service, lambda a: not is_marked(a))
    checks.equal("permissions: back", (fresh.status, fresh.body), (200, good.body))
    checks.check("permissions: back: the URL", not is_marked(url()), url())


def write(service: Service, token: Token, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """`frontend-map sitemap` with the settings of the service."""
    args = ["sitemap", "--site", "more", "--out", str(folder)]
    return subprocess.run(
        [service.binary, "--config", service.settings, *args],
        env={"FRONTEND_MAP__CMS__TOKEN": token.key},
        capture_output=True,
        text=True,
    )


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
