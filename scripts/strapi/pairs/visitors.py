"""What visitors of a path get, and when the service knows what editors have done."""

import json
from typing import Any, NamedTuple

from common.client import until
from strapi.pairs.content import LOCALES, SITE, Paths, Version, World
from strapi.service import PRESS, Service

# A hang guard, in seconds.
PATIENCE = 60


class Found(NamedTuple):
    """What a path leads to: a document, a target, or nothing."""

    uid: str | None = None
    document: str | None = None
    # The path of the target.
    target: str | None = None
    # The redirect of the CMS that decides.
    entry: str | None = None

    def is_any(self) -> bool:
        return self.document is not None or self.target is not None

    def is_page(self, version: Version) -> bool:
        return (self.uid, self.document) == (version.uid, version.document)


def resolve(service: Service, path: str) -> Found:
    response = service.get("/api/resolve", site=SITE, pathname=path)
    body = json.loads(response.body)
    if response.status == 404:
        gone = body["error"]["details"].get("gone") or {}
        return Found(entry=gone.get("entry"))
    if response.status != 200:
        raise SystemExit(f"{path}: {response}")
    data = body["data"]
    if data["kind"] == "document":
        return Found(data["matched"]["collectionType"], data["documentId"])
    if data["kind"] == "redirect":
        redirect = data["redirect"]
        return Found(target=redirect["path"], entry=redirect.get("entry"))
    return Found(entry=(data.get("gone") or {}).get("entry"))


class Visits:
    """What is at each path of a world at one moment."""

    def __init__(self, service: Service, paths: Paths) -> None:
        self.service, self.paths = service, paths
        self.found = {path: resolve(service, path) for path in set(paths.values()) if path}

    def at(self, path: str) -> Found:
        if path not in self.found:
            self.found[path] = resolve(self.service, path)
        return self.found[path]

    def path(self, version: Version) -> str | None:
        return self.paths.get(version)

    def visible(self, version: Version) -> str | None:
        """The path at which visitors see a version."""
        path = self.path(version)
        return path if path and self.at(path).is_page(version) else None


def preview(service: Service, version: Version) -> dict[str, Any]:
    query = {"uid": version.uid, "documentId": version.document, "site": SITE}
    if version.uid != PRESS:
        query["locale"] = version.locale
    response = service.get("/api/publish-preview", None, **query)
    if response.status != 200:
        raise SystemExit(f"preview of {version}: {response}")
    found: dict[str, Any] = json.loads(response.body)["data"]["sites"][0]
    return found


def wait(service: Service, world: World, paths: Paths) -> None:
    """Until the service has each version where it is, and each redirect."""
    versions = list(paths)
    without_path = {own for own in versions if not paths[own] and world.is_published(own)}
    documents = [
        {"uid": own.uid, "documentId": own.document, "locale": own.locale} for own in versions
    ]

    def unknown() -> list[Any]:
        """The versions that the service has elsewhere, or the redirects that it does not have."""
        response = service.post("/api/frontend-urls", {"documents": documents}, site=SITE)
        results = json.loads(response.body)["data"]["results"]
        known = zip(versions, results, strict=True)
        elsewhere = [
            (paths[own], result)
            for own, result in known
            if result.get("path") != paths[own]
            or (own in without_path and result["reason"] == "no_version")
        ]
        return elsewhere or unknown_redirects(service, world)

    if until(lambda: not unknown(), PATIENCE, 0.02) is None:
        raise SystemExit(f"{world.name}: not known: {unknown()}\n{service.log()[-4000:]}")


def unknown_redirects(service: Service, world: World) -> list[Any]:
    """The redirects that are neither in the table nor among the problems, or still in the table."""
    if not world.redirects:
        return []
    table = json.loads(service.get("/api/redirects", site=SITE).body)["data"]["redirects"]
    listed = {row["entry"]["documentId"] for row in table if row.get("entry")}
    problems = service.get("/api/problems", site=SITE).body
    unknown = []
    for row in world.targets():
        leads = row["to"] or row["code"] == 410 or row.get("target")
        document = row["documentId"]
        if not (leads if document in listed else document in problems):
            unknown.append(row)
    return unknown


def wait_until_read(service: Service) -> None:
    """Until all content types have been read."""

    def is_read() -> bool:
        paths = [f"/{LOCALES[0]}/nothing", "/press/nothing"]
        found = [service.get("/api/resolve", site=SITE, pathname=path).status for path in paths]
        return 503 not in found

    if until(is_read, PATIENCE) is None:
        raise SystemExit(f"the content types are not known\n{service.log()[-4000:]}")
