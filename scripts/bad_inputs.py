#!/usr/bin/env python3
"""Sends the corpus of bad requests to a running service and compares each response.

`tests/corpora/README.md` says what the service's settings must be and what the fields of a case
mean. Without `--strict`, the statuses in `accept_statuses` are fine too. Ends with status 1 when a
case fails or the service does not answer afterwards.
"""

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import re
import socket
import sys
import time
from typing import Any, Literal, NamedTuple

from common.build import ROOT

Case = dict[str, Any]
End = Literal["TIMEOUT", "RST", "EOF", "DONE"]

CORPUS = ROOT / "tests/corpora/bad-inputs.jsonl"
# Hang guards in seconds; a slow case waits until the service gives up on an unfinished head.
PATIENCE, SLOW_PATIENCE, SECOND_PATIENCE = 30, 60, 15
MOST_MESSAGE, MOST_BODY = 512, 12_288
ALIVE: Case = {
    "name": "alive",
    "request_target": "/api/get-content-type?pathname=/en/articles/hello-world&site=main",
    "expect_status": 200,
    "expect_error_name": None,
    "envelope": True,
}


class Answer(NamedTuple):
    """Names of headers in lower case; `rest` is what came behind the body."""

    status: int
    headers: dict[str, list[str]]
    body: bytes
    rest: bytes


def expand(text: str) -> str:
    """`{{repeat:S:N}}` is S repeated N times."""
    return re.sub(r"\{\{repeat:(.*?):(\d+)\}\}", lambda m: m[1] * int(m[2]), text, flags=re.DOTALL)


def request(case: Case) -> bytes:
    """One character of a string is one byte."""
    if "raw" in case:
        return expand(case["raw"]).encode("latin-1")
    lines = [] if case.get("no_host") else [f"Host: {case.get('host', 'localhost')}"]
    lines += [f"{name}: {expand(value)}" for name, value in case.get("headers", [])]
    head = "".join(f"{line}\r\n" for line in lines) + case.get("raw_headers", "")
    if "body" not in case and "raw_headers" not in case:
        head += "Connection: close\r\n"
    method, version = case.get("method", "GET"), case.get("http_version", "HTTP/1.1")
    target, body = expand(case["request_target"]), expand(case.get("body", ""))
    return f"{method} {target} {version}\r\n{head}\r\n{body}".encode("latin-1")


def receive(connection: socket.socket, seconds: float, head_only: bool) -> tuple[bytes, End]:
    """What comes until one answer is complete, and why it ended there."""
    received = b""
    deadline = time.monotonic() + seconds
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return received, "TIMEOUT"
        connection.settimeout(left)
        try:
            part = connection.recv(65536)
        except TimeoutError:
            return received, "TIMEOUT"
        except (ConnectionResetError, BrokenPipeError):
            return received, "RST"
        if not part:
            return received, "EOF"
        received += part
        if is_complete(received, head_only):
            return received, "DONE"


def is_complete(received: bytes, head_only: bool) -> bool:
    head, blank, body = received.partition(b"\r\n\r\n")
    if not blank:
        return False
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    if head_only or length:
        return head_only or (length is not None and len(body) >= int(length[1]))
    return b"transfer-encoding" in head.lower() and body.endswith(b"0\r\n\r\n")


def parse(received: bytes) -> Answer | None:
    if not received.startswith(b"HTTP/"):
        return None
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, list[str]] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.lower(), []).append(value.strip())
    length = int(headers.get("content-length", [str(len(body))])[0])
    return Answer(int(first.split()[1]), headers, body[:length], body[length:])


class Runner:
    def __init__(self, address: str, strict: bool) -> None:
        host, port = address.rsplit(":", 1)
        self.address, self.strict = (host, int(port)), strict

    def run(self, case: Case) -> list[str]:
        """What is wrong."""
        try:
            connection = socket.create_connection(self.address, timeout=PATIENCE)
        except OSError as error:
            return [f"connect: {error}"]
        with connection:
            # The service may answer and close before it has read everything.
            with contextlib.suppress(OSError):
                connection.sendall(request(case))
            patience = SLOW_PATIENCE if case.get("slow") else PATIENCE
            received, end = receive(connection, patience, case.get("method") == "HEAD")
            if "expect_second_status" in case and end == "DONE":
                received += receive(connection, SECOND_PATIENCE, False)[0]
        wanted = [case["expect_status"]]
        if not self.strict:
            wanted += case.get("accept_statuses", [])
        answer = parse(received)
        if answer is not None:
            return judge(case, answer, wanted)
        got = "CLOSE" if end in ("EOF", "RST") else end
        if got in wanted or (end == "RST" and "RST" in wanted):
            return []
        return [f"got {got} ({received[:40]!r}), want {wanted}"]


def judge(case: Case, answer: Answer, wanted: list[int | str]) -> list[str]:
    status, headers, body, rest = answer
    wrong = []
    if status not in wanted:
        wrong.append(f"status {status}, want {wanted}: {body[:120]!r}")
    elif case.get("envelope"):
        wrong += judge_error(case, answer) if status >= 400 else judge_success(case, answer)
    if case.get("envelope") and headers.get("x-content-type-options") != ["nosniff"]:
        wrong.append("no nosniff")
    if case.get("expect_no_body") and case.get("method") == "HEAD" and rest + body != b"":
        wrong.append("HEAD with a body")
    for name, value in case.get("expect_headers", {}).items():
        if value.lower() not in ",".join(headers.get(name, [])).lower():
            wrong.append(f"header {name}={headers.get(name)}, want {value}")
    forbidden = [*case.get("forbid_headers", []), "set-cookie", "x-evil"]
    wrong += [f"header {name} present" for name in forbidden if name in headers]
    if "forbid_body" in case and case["forbid_body"].encode() in body:
        wrong.append("forbidden text reflected in body")
    reflected = case.get("forbid_response_header_value")
    if reflected and any(reflected in value for values in headers.values() for value in values):
        wrong.append("forbidden header value reflected")
    if "expect_second_status" in case:
        second = parse(rest)
        if second is None or second.status != case["expect_second_status"]:
            wrong.append(f"second answer {rest[:60]!r}")
    return wrong


def content_type(answer: Answer) -> str:
    return answer.headers.get("content-type", [""])[0]


def judge_error(case: Case, answer: Answer) -> list[str]:
    try:
        envelope = json.loads(answer.body)
        error = envelope["error"]
        message = error["message"]
    except (ValueError, KeyError, TypeError) as problem:
        return [f"no envelope: {problem!r} {answer.body[:80]!r}"]
    wrong = []
    if envelope.get("data", "absent") is not None:
        wrong.append("data is not null")
    if error.get("status") != answer.status:
        wrong.append("error.status differs from HTTP status")
    name = case["expect_error_name"]
    if answer.status == case["expect_status"] and name and error.get("name") != name:
        wrong.append(f"error.name {error.get('name')}, want {name}")
    if not isinstance(message, str) or len(message) > MOST_MESSAGE:
        wrong.append(f"message missing or over {MOST_MESSAGE} characters")
    if len(answer.body) > MOST_BODY:
        wrong.append("error body too large")
    if not content_type(answer).startswith("application/json"):
        wrong.append(f"content-type {content_type(answer)!r}")
    return wrong


def judge_success(case: Case, answer: Answer) -> list[str]:
    expected = case.get("expect_content_type", "application/json")
    if not content_type(answer).startswith(expected):
        return [f"content-type {content_type(answer)!r}, want {expected}"]
    if expected != "application/json":
        return []
    try:
        envelope = json.loads(answer.body)
        is_success = isinstance(envelope["data"], dict) and envelope["meta"] == {}
    except (ValueError, KeyError, TypeError) as problem:
        return [f"body: {problem!r}"]
    return [] if is_success else ["success envelope"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("corpus", metavar="FILE", nargs="?", type=pathlib.Path, default=CORPUS)
    parser.add_argument("--strict", action="store_true", help="only expect_status counts")
    parser.add_argument("--jobs", type=int, default=8, help="requests at a time")
    options = parser.parse_args()
    runner = Runner(options.address, options.strict)
    cases = [json.loads(line) for line in options.corpus.read_text(encoding="utf-8").splitlines()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, wrong in zip(cases, pool.map(runner.run, cases), strict=True):
            if wrong:
                failed += 1
                print("FAIL", case["name"], "|", case.get("decision") or "-", "|", "; ".join(wrong))
    alive = not runner.run(ALIVE)
    print(f"{len(cases) - failed}/{len(cases)} passed; still alive: {alive}")
    sys.exit(failed > 0 or not alive)


if __name__ == "__main__":
    main()
