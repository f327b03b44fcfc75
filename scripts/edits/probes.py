"""When an edit is seen: each operation is requested until it shows the edit."""

import json
import re
import threading
import time
import urllib.parse
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from common.client import get
from edits.content import BASE, ENDPOINTS, UIDS, Strapi
from edits.limit import ENDED
from edits.plan import Edit, Listed

OPERATIONS = ("frontend-url", "build-sitemap", "sitemap file", "resolve")
# The response of Strapi to a request for the document that is sent when the edit has ended: while
# Strapi publishes a category it responds to nothing, and no service can show an edit before.
BARE = "Strapi itself"
# The pause between two requests: a minimum in seconds, and a part of the time since the edit, so
# that a slow edit costs few requests. The figures are accurate to this pause.
PAUSE, PART = 0.02, 0.02
# Seconds after which an edit counts as never seen.
PATIENCE = 600
# Seconds between two looks whether the run has ended.
LOOK = 0.5
# The timeout of one request, in seconds.
REQUEST = 130


class Lists:
    """The present list of each type, requested all the time; a 304 costs next to nothing."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.bodies = dict.fromkeys(UIDS, b"")
        self.changed = threading.Condition()
        self.ended, self.paused = threading.Event(), threading.Event()
        self.threads = [threading.Thread(target=self.follow, args=(uid,)) for uid in UIDS]

    def __enter__(self) -> "Lists":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def follow(self, uid: str) -> None:
        target = f"/api/build-sitemap?site=main&contentType={urllib.parse.quote(uid)}"
        tag = ""
        while not self.ended.is_set():
            if self.paused.is_set():
                time.sleep(PAUSE)
                continue
            response = get(self.address, target, REQUEST, **{"If-None-Match": tag} if tag else {})
            if response.status == 200:
                tag = {k.lower(): v for k, v in response.headers.items()}["etag"]
                with self.changed:
                    self.bodies[uid] = response.body
                    self.changed.notify_all()
            time.sleep(PAUSE)

    def wait(self, listed: list[Listed], deadline: float) -> bool:
        with self.changed:
            while time.monotonic() < deadline and not ENDED.is_set():
                if self.changed.wait_for(lambda: self.show(listed), LOOK):
                    return True
            return self.show(listed)

    def show(self, listed: list[Listed]) -> bool:
        return all(in_list(self.bodies[one.uid], one) for one in listed)


class Files:
    """The sitemap files of a type, read again where they have changed."""

    def __init__(self, address: str) -> None:
        self.address, self.lock = address, threading.Lock()
        self.kept: dict[str, tuple[str, bytes]] = {}

    def show(self, listed: list[Listed]) -> bool:
        with self.lock:
            names = re.findall(rb"<loc>[^<]*/([^/<]+)</loc>", self.read("index.xml"))
            texts: dict[str, list[bytes]] = defaultdict(list)
            for uid in {one.uid for one in listed}:
                start = uid.replace("::", ".", 1).encode() + b"-"
                files = [name.decode() for name in names if name.startswith(start)]
                texts[uid] = [self.read(name) for name in files]
            return all(in_files(texts[one.uid], one) for one in listed)

    def read(self, name: str) -> bytes:
        tag, text = self.kept.get(name, ("", b""))
        headers = {"If-None-Match": tag} if tag else {}
        response = get(self.address, f"/sitemaps/main/{name}", REQUEST, **headers)
        if response.status == 200:
            tag = {k.lower(): v for k, v in response.headers.items()}["etag"]
            text = response.body
            self.kept[name] = (tag, text)
        return text


def in_list(body: bytes, listed: Listed) -> bool:
    end = '"' if listed.is_whole else ""
    return body.count(f'"{BASE}{listed.path}{end}'.encode()) == listed.count


def in_files(texts: list[bytes], listed: Listed) -> bool:
    end = "</loc>" if listed.is_whole else ""
    part = f"<loc>{BASE}{listed.path}{end}".encode()
    return sum(text.count(part) for text in texts) == listed.count


class Probes:
    """Follows each edit in each operation, at the same time."""

    def __init__(self, address: str, lists: Lists, strapi: Strapi) -> None:
        self.address, self.lists, self.files = address, lists, Files(address)
        self.strapi = strapi
        self.pool = ThreadPoolExecutor(1_000)
        self.lock = threading.Lock()
        # Seconds by kind and operation; None: never seen.
        self.seconds: dict[tuple[str, str], list[float | None]] = defaultdict(list)
        self.frontend_url_requests = 0
        # How often the run ended before an edit was seen.
        self.unfinished = 0

    def follow(self, edit: Edit) -> None:
        """From now on; `wait` waits for the end."""
        begun = time.monotonic()
        for probe in (self.bare, self.frontend_url, self.list_and_file, self.resolve):
            self.pool.submit(probe, edit, begun)

    def wait(self) -> None:
        self.pool.shutdown()

    def bare(self, edit: Edit, begun: float) -> None:
        self.strapi.get(f"/api/{ENDPOINTS[edit.uid]}?filters[documentId]={edit.document}")
        self.note(edit, BARE, begun, True)

    def frontend_url(self, edit: Edit, begun: float) -> None:
        query = urllib.parse.urlencode({"uid": edit.uid, "documentId": edit.document})

        def is_shown() -> bool:
            self.frontend_url_requests += 1
            response = get(self.address, f"/api/frontend-url?{query}")
            if edit.path is None:
                return response.status == 404
            return response.status == 200 and json.loads(response.body)["data"]["path"] == edit.path

        self.until(edit, "frontend-url", begun, is_shown)

    def list_and_file(self, edit: Edit, begun: float) -> None:
        shown = self.lists.wait(edit.listed, begun + PATIENCE)
        self.note(edit, "build-sitemap", begun, shown)
        self.until(edit, "sitemap file", begun, lambda: self.files.show(edit.listed))

    def resolve(self, edit: Edit, begun: float) -> None:
        def is_shown() -> bool:
            for path, owner in edit.owners.items():
                query = urllib.parse.urlencode({"site": "main", "pathname": path})
                response = get(self.address, f"/api/resolve?{query}")
                if response.status != 200:
                    return False
                if json.loads(response.body)["data"]["documentId"] != owner:
                    return False
            return True

        self.until(edit, "resolve", begun, is_shown)

    def until(self, edit: Edit, operation: str, begun: float, is_shown: Callable[[], bool]) -> None:
        shown = False
        while not (shown := is_shown()) and time.monotonic() - begun < PATIENCE:
            if ENDED.wait(PAUSE + PART * (time.monotonic() - begun)):
                break
        self.note(edit, operation, begun, shown)

    def note(self, edit: Edit, operation: str, begun: float, shown: bool) -> None:
        taken = time.monotonic() - begun
        with self.lock:
            if not shown and ENDED.is_set():
                self.unfinished += 1
            else:
                self.seconds[edit.kind, operation].append(taken if shown else None)
