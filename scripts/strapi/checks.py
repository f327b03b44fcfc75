"""Counts what holds, and prints the first failures of a kind."""

import collections
import threading


class Checks:
    SHOWN = 10

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.passed = 0
        self.failed: collections.Counter[str] = collections.Counter()

    def check(self, name: str, holds: object, detail: object = "") -> None:
        with self.lock:
            self.passed += bool(holds)
            if not holds:
                self.failed[name] += 1
                if self.failed[name] <= self.SHOWN:
                    print(f"FAILED {name}: {detail}", flush=True)

    def equal(self, name: str, found: object, expected: object) -> None:
        self.check(name, found == expected, f"{found!r}, expected {expected!r}")
