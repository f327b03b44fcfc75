"""A proxy in front of Strapi that returns a 500 for chosen requests, and keeps all targets."""

import http.client
import http.server
import threading
import urllib.parse
from collections.abc import Callable
from types import TracebackType
from typing import Self


class FailingProxy:
    """Forwards GET requests; stopped at the end of its `with` block."""

    def __init__(self, strapi: str) -> None:
        self.strapi = urllib.parse.urlsplit(strapi).netloc
        self.lock = threading.Lock()
        self.fails: Callable[[str], bool] = lambda _: False
        self.left = 0
        # The targets of all requests, and of those that were refused.
        self.targets: list[str] = []
        self.refused: list[str] = []
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                status, body = proxy.respond(self.path, self.headers["Authorization"])
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def fail_next(self, count: int, fails: Callable[[str], bool]) -> None:
        """This number of the next requests with such a target fail."""
        with self.lock:
            self.left, self.fails = count, fails

    def respond(self, target: str, token: str | None) -> tuple[int, bytes]:
        with self.lock:
            self.targets.append(target)
            if self.left and self.fails(target):
                self.left -= 1
                self.refused.append(target)
                return 500, b"{}"
        connection = http.client.HTTPConnection(self.strapi, timeout=60)
        connection.request("GET", target, headers={"Authorization": token} if token else {})
        response = connection.getresponse()
        status, body = response.status, response.read()
        connection.close()
        return status, body

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
