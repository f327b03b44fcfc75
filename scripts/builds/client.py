"""Sends the bytes of a request and returns the raw response, without an HTTP library."""

import contextlib
import gzip
import re
import socket
from dataclasses import dataclass, field

HANG_SECONDS = 60


@dataclass
class Request:
    """`raw` is sent as it is; `is_last` closes the connection afterwards."""

    raw: bytes
    is_last: bool = False

    @property
    def is_head(self) -> bool:
        return self.raw.startswith(b"HEAD ")


@dataclass
class Response:
    """Names of headers in lower case. Without an answer, the status is 0."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


class Connection:
    """Kept as long as the service keeps it."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.address = (host, int(port))
        self.socket: socket.socket | None = None
        self.buffer = b""

    def send(self, request: Request) -> Response:
        response = self.attempt(request)
        if response is None:
            # An idle connection may be closed at any time; a fresh one is not.
            self.close()
            response = self.attempt(request)
        if response is None or request.is_last or response.header("connection") == "close":
            self.close()
        return response or Response()

    def attempt(self, request: Request) -> Response | None:
        if self.socket is None:
            self.socket = socket.create_connection(self.address, timeout=HANG_SECONDS)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The service may answer and close before it has read everything.
        with contextlib.suppress(OSError):
            self.socket.sendall(request.raw)
        try:
            return self.receive(request.is_head)
        except (OSError, EOFError):
            return None

    def receive(self, is_head: bool) -> Response:
        head = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        status = int(head[0].split(" ")[1])
        if status < 200:
            return self.receive(is_head)
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = [(name.lower(), value.strip()) for name, _, value in pairs]
        response = Response(status, headers)
        if not is_head and status not in (204, 304):
            response.body = self.body(response)
        return response

    def body(self, response: Response) -> bytes:
        length = response.header("content-length")
        if response.header("transfer-encoding") == "chunked":
            body = b""
            while size := int(self.until(b"\r\n"), 16):
                body += self.exactly(size)
                self.until(b"\r\n")
            self.until(b"\r\n")
        else:
            body = self.exactly(int(length)) if length else b""
        if response.header("content-encoding") == "gzip":
            return gzip.decompress(body)
        return body

    def more(self) -> None:
        received = self.socket.recv(65536) if self.socket else b""
        if not received:
            raise EOFError
        self.buffer += received

    def until(self, end: bytes) -> bytes:
        while end not in self.buffer:
            self.more()
        found, _, self.buffer = self.buffer.partition(end)
        return found

    def exactly(self, length: int) -> bytes:
        while len(self.buffer) < length:
            self.more()
        found, self.buffer = self.buffer[:length], self.buffer[length:]
        return found

    def close(self) -> None:
        if self.socket:
            self.socket.close()
        self.socket, self.buffer = None, b""


def has_header(request: Request, name: str) -> bool:
    return re.search(rb"(?i)\r\n" + name.encode() + rb":", request.raw) is not None
