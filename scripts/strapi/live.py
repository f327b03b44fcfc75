"""Content that changes, and a CMS that stops, while the service runs."""

import http.client
import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from strapi.checks import Checks
from strapi.fixture import Strapi
from strapi.service import ARTICLE, Response, Service, request

HOOK_SECRET = "canary-of-the-hook-secret"
BUILT = "a snapshot is built"
# The promise, in seconds: a change is in the sitemap, and a CMS that is back is noticed. What was
# measured is printed beside it: it is the machine's, and decides nothing.
PROMISED = 5
# A hang guard, in seconds.
PATIENCE = 900


class Live:
    """One sitemap of a running service, and the Strapi behind it."""

    def __init__(self, checks: Checks, service: Service, strapi: str, token: str) -> None:
        self.checks, self.service, self.strapi, self.token = checks, service, strapi, token
        query = urllib.parse.urlencode({"site": "main", "contentType": ARTICLE})
        self.target = f"/api/build-sitemap?{query}"

    def get(self, **headers: str) -> Response:
        """Over a connection of its own, so that none is kept for too long."""
        connection = http.client.HTTPConnection(self.service.address, timeout=PATIENCE)
        response = request(connection, self.target, headers)
        connection.close()
        return response

    def urls(self) -> tuple[str, set[str]]:
        """The ETag and the URLs."""
        status, headers, body = self.get()
        self.checks.equal("live: status", status, 200)
        return headers["etag"], set(json.loads(body)["data"]["urls"])

    def post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode()
        sent = urllib.request.Request(self.strapi + path, data, method="POST", headers=headers)
        with urllib.request.urlopen(sent, timeout=PATIENCE) as response:
            return json.load(response)

    def first(self, endpoint: str) -> dict[str, Any]:
        """The first row of a type, with its slug."""
        return self.rows(endpoint, 1)[0]

    def rows(self, endpoint: str, size: int) -> list[dict[str, Any]]:
        """The first rows of a type, with their slugs."""
        query = f"fields=slug&sort=documentId:asc&pagination[pageSize]={size}"
        return self.read(f"/api/{endpoint}?{query}")

    def read(self, path: str) -> list[dict[str, Any]]:
        """The rows that Strapi's REST API returns."""
        headers = {"Authorization": f"Bearer {self.token}"}
        sent = urllib.request.Request(self.strapi + path, headers=headers)
        with urllib.request.urlopen(sent, timeout=PATIENCE) as response:
            found: list[dict[str, Any]] = json.load(response)["data"]
        return found

    def act(self, action: str, document: str | None, **more: object) -> dict[str, Any]:
        """A call of Strapi's Document Service."""
        what: dict[str, Any] = {"uid": ARTICLE, "action": action, "locale": "en"}
        if document is not None:
            what["documentId"] = document
        found: dict[str, Any] = self.post("/api/lab/action", what | more)
        return found

    def shows(self, name: str, gone: set[str], new: set[str]) -> None:
        """Waits until `gone` are gone and `new` are there."""
        begun, tag = time.monotonic(), None
        shown = False
        while not shown and time.monotonic() - begun < PATIENCE:
            if tag is None or self.get(**{"If-None-Match": tag}).status != 304:
                tag, urls = self.urls()
                shown = gone.isdisjoint(urls) and new <= urls
            time.sleep(0.05)
        self.checks.check(f"live: {name}", shown, f"not shown in {PATIENCE} s")
        self.took(name, time.monotonic() - begun)

    def took(self, name: str, seconds: float) -> None:
        print(f"live: {name}: {seconds:.1f} s (promised: {PROMISED} s)", flush=True)

    def until(self, name: str, holds: Callable[[Response], bool]) -> Response:
        """The first response for which it holds."""
        begun = time.monotonic()
        while True:
            response = self.get()
            if holds(response) or time.monotonic() - begun > PATIENCE:
                self.checks.check(f"live: {name}", holds(response), response[:2])
                return response
            time.sleep(0.05)


def wait_until_built(service: Service, count: int) -> None:
    """Until the walks of the start have built each snapshot; no request asks for one."""
    begun = time.monotonic()
    while (built := service.log().count(BUILT)) < count:
        if time.monotonic() - begun > PATIENCE:
            raise SystemExit(f"only {built} of {count} snapshots\n{service.log()[-4000:]}")
        time.sleep(0.1)
    print(f"live: {count} snapshots after {time.monotonic() - begun:.1f} s", flush=True)


def check_changes(live: Live, document: str, url: str) -> None:
    """Publishes, unpublishes and renames one article; Strapi's own webhook reports each change."""
    _, urls = live.urls()
    live.checks.check("live: is listed at first", url in urls)
    renamed = f"{url}-renamed"
    live.act("unpublish", document)
    live.shows("unpublished", {url}, set())
    live.act("publish", document)
    live.shows("published", set(), {url})
    live.act("update", document, data={"slug": renamed.rpartition("/")[2]})
    live.act("publish", document)
    live.shows("renamed", {url}, {renamed})
    _, found = live.urls()
    live.checks.equal("live: nothing else changed", found ^ urls, {url, renamed})
    for line in last_walks(live.service):
        print(f"  {line}", flush=True)


def last_walks(service: Service) -> list[str]:
    """What the log says of the last walks, newest last: where the time goes."""
    lines = [line for line in service.log().splitlines() if BUILT in line and ARTICLE in line]
    return [line.partition(BUILT)[2].strip() for line in lines[-3:]]


def check_outage(live: Live, strapi: Strapi) -> None:
    """Strapi stops for longer than the hard limit, and returns."""
    checks = live.checks
    status, _, good = live.get()
    checks.equal("outage: at first", status, 200)
    strapi.stop()
    status, headers, body = live.until(
        "outage: the snapshot is marked",
        lambda response: "detail=" in response.headers.get("cache-status", ""),
    )
    checks.equal("outage: the snapshot", (status, body == good), (200, True))
    checks.check("outage: its age", int(headers.get("age", -1)) >= 0, headers)
    status, headers, body = live.until(
        "outage: past the hard limit", lambda response: response.status != 200
    )
    checks.equal("outage: then", (status, headers.get("retry-after")), (503, "5"))
    name = json.loads(body)["error"]["name"]
    checks.equal("outage: the error", name, "ServiceUnavailableError")
    strapi.start()
    begun = time.monotonic()
    _, _, body = live.until("outage: back", lambda response: response.status == 200)
    live.took("back after its return", time.monotonic() - begun)
    checks.check("outage: the same list", body == good)
