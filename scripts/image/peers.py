"""A name server and a CMS with one document, as the image meets them.

Each name has the address 127.0.0.1. The CMS keeps the Host and target of each request.
"""

import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

A, IN, MINUTE = 1, 1, 60
DOCUMENT_ID = "abcdefghijklmnopqrstuvwx"
DOCUMENT = {
    "documentId": DOCUMENT_ID,
    "locale": "en",
    "slug": "hello",
    "publishedAt": "2026-01-01T00:00:00.000Z",
}


class NameServer:
    """Listens on port 53 of an address; its thread ends with the process."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            query, client = self.socket.recvfrom(512)
            self.socket.sendto(dns_answer(query), client)


def dns_answer(query: bytes) -> bytes:
    """RFC 1035, section 4.1: the question again, and for an A question one record."""
    end = query.index(b"\0", 12) + 5
    question = query[12:end]
    records = 1 if question[-4:] == struct.pack("!HH", A, IN) else 0
    header = query[:2] + struct.pack("!HHHHH", 0x8180, 1, records, 0, 0)
    # 0xC00C points at the name in the question.
    record = struct.pack("!HHHIH", 0xC00C, A, IN, MINUTE, 4) + socket.inet_aton("127.0.0.1")
    return header + question + record * records


class Cms:
    """Listens on a free port of loopback; its thread ends with the process."""

    def __init__(self) -> None:
        requests: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                requests.append(f"{self.headers['Host']} {self.path}")
                body = json.dumps({"data": DOCUMENT, "meta": {}}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.requests = requests
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
