"""Two peers for check-image: a name server and a CMS with one document.

    image-peers.py NAME_SERVER_ADDRESS CMS_PORT LOG

Every name has the address 127.0.0.1, and LOG gets the Host of each request to the CMS. It is there
as soon as both answer.
"""

import json
import socket
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

ADDRESS, PORT, LOG = sys.argv[1], int(sys.argv[2]), sys.argv[3]
A, IN, MINUTE = 1, 1, 60


def answer(query):
    """RFC 1035, section 4.1: the question again, and for an A question one record."""
    end = query.index(b"\0", 12) + 5
    question = query[12:end]
    records = 1 if question[-4:] == struct.pack("!HH", A, IN) else 0
    header = query[:2] + struct.pack("!HHHHH", 0x8180, 1, records, 0, 0)
    # 0xC00C points at the name in the question.
    record = struct.pack("!HHHIH", 0xC00C, A, IN, MINUTE, 4) + socket.inet_aton("127.0.0.1")
    return header + question + record * records


def name_server(server):
    while True:
        query, client = server.recvfrom(512)
        server.sendto(answer(query), client)


class Cms(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(f"{self.headers['Host']} {self.path}\n")
        document = {
            "documentId": "abcdefghijklmnopqrstuvwx",
            "locale": "en",
            "slug": "hello",
            "publishedAt": "2026-01-01T00:00:00.000Z",
        }
        body = json.dumps({"data": document, "meta": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind((ADDRESS, 53))
cms = HTTPServer(("127.0.0.1", PORT), Cms)
open(LOG, "a", encoding="utf-8").close()
threading.Thread(target=name_server, args=(names,), daemon=True).start()
cms.serve_forever()
