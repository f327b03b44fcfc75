"""The end of a run before its time: by a limit, or by SIGTERM. What was measured is reported."""

import signal
import threading

ENDED = threading.Event()


def end_after(seconds: int) -> None:
    """0: no limit."""
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, lambda *_: ENDED.set())
    signal.alarm(seconds)
