"""Peers whose responses depend only on the request: a CMS like Strapi, and a frontend."""

import json
import threading
import urllib.parse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Document = dict[str, Any]
Content = dict[str, list[Document]]
# What a CMS answers to each request for content.
Mode = Literal["healthy", "unavailable", "unauthorized", "garbage", "unknown"]
MODES: tuple[Mode, ...] = ("healthy", "unavailable", "unauthorized", "garbage", "unknown")
PAGE_SIZE = 100
# What comes of a page, by a checksum of its path. 0: the
# connection is closed without an answer.
PAGES = [(200, ""), (200, ""), (200, ""), (301, "/new"), (404, ""), (500, ""), (410, ""), (0, "")]


class Peer:
    """Listens on a free port of loopback until `stop`."""

    def __init__(self, answer: Callable[[str], tuple[int, dict[str, str], bytes]]) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                status, headers, body = answer(self.path)
                if status == 0:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        Handler.wbufsize = -1
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def front_end() -> Peer:
    def answer(path: str) -> tuple[int, dict[str, str], bytes]:
        status, location = PAGES[sum(path.encode()) % len(PAGES)]
        return status, {"Location": location} if location else {}, b"a page"

    return Peer(answer)


def strapi(content: Content, endpoints: dict[str, str], mode: Mode) -> Peer:
    """Endpoints are paths below `/api/`, each with its content type."""

    def answer(target: str) -> tuple[int, dict[str, str], bytes]:
        if mode == "garbage":
            return 200, {"Content-Type": "text/html"}, b"<html>nothing like JSON"
        status, envelope = strapi_answer(content, endpoints, mode, target)
        return status, {"Content-Type": "application/json"}, json.dumps(envelope).encode()

    return Peer(answer)


def strapi_answer(
    content: Content, endpoints: dict[str, str], mode: Mode, target: str
) -> tuple[int, dict[str, Any]]:
    path, _, text = target.partition("?")
    query = dict(urllib.parse.parse_qsl(text))
    if mode == "unavailable":
        return failure(503, "ServiceUnavailableError")
    if mode == "unauthorized":
        return failure(401, "UnauthorizedError")
    if path.startswith("/api/content-type-builder/"):
        return failure(403, "ForbiddenError")
    endpoint, _, document_id = path.removeprefix("/api/").partition("/documents/")
    # `articles/<documentId>` or `cms/news/<documentId>`.
    if endpoint not in endpoints:
        endpoint, _, document_id = endpoint.rpartition("/")
    if mode == "unknown" or endpoint not in endpoints:
        return failure(404, "NotFoundError")
    rows = [row for row in content[endpoints[endpoint]] if is_wanted(row, query)]
    rows = with_all_keys(rows, content[endpoints[endpoint]])
    if document_id:
        found = next((row for row in rows if row["documentId"] == document_id), None)
        return (200, {"data": found, "meta": {}}) if found else failure(404, "NotFoundError")
    return page(rows, query)


def failure(status: int, name: str) -> tuple[int, dict[str, Any]]:
    error = {"status": status, "name": name, "message": name, "details": {}}
    return status, {"data": None, "error": error}


def is_wanted(row: Document, query: dict[str, str]) -> bool:
    """The version, as Strapi chooses it."""
    if row.get("status", "published") != query.get("status", "published"):
        return False
    locale = row.get("locale")
    return locale is None or locale == query.get("locale", locale)


def with_all_keys(rows: list[Document], every: list[Document]) -> list[Document]:
    """A field that a document does not have is null in Strapi, and the status is in no row."""
    keys = {key for row in every for key in row} - {"status"}
    return [{key: row.get(key) for key in sorted(keys)} for row in rows]


def page(rows: list[Document], query: dict[str, str]) -> tuple[int, dict[str, Any]]:
    rows = sorted(rows, key=lambda row: str(row["documentId"]))
    after = query.get("filters[documentId][$gt]", "")
    wanted = {value for key, value in query.items() if key.startswith("filters[documentId][$in]")}
    rows = [row for row in rows if row["documentId"] > after]
    rows = [row for row in rows if not wanted or row["documentId"] in wanted]
    size = min(int(query.get("pagination[pageSize]", "25")), PAGE_SIZE)
    paging = {"page": 1, "pageSize": size, "pageCount": 1, "total": len(rows)}
    return 200, {"data": rows[:size], "meta": {"pagination": paging}}
