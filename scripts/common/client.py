"""One HTTP request, and a wait for a condition."""

import contextlib
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import NamedTuple


class Answer(NamedTuple):
    """Headers have the names as sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def get(address: str, target: str, timeout: float = 130, **headers: str) -> Answer:
    return send(urllib.request.Request(f"http://{address}{target}", headers=headers), timeout)


def post(address: str, target: str, body: bytes, timeout: float = 130) -> Answer:
    return send(urllib.request.Request(f"http://{address}{target}", data=body), timeout)


def send(request: urllib.request.Request, timeout: float) -> Answer:
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return Answer(answer.status, dict(answer.headers), answer.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, dict(error.headers), error.read())


def until(
    condition: Callable[[], object], patience: float = 60, pause: float = 0.01
) -> float | None:
    """Seconds until the condition holds, or None if it never does. A refused connection is no."""
    begun = time.monotonic()
    while time.monotonic() - begun < patience:
        with contextlib.suppress(OSError):
            if condition():
                return time.monotonic() - begun
        time.sleep(pause)
    return None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
