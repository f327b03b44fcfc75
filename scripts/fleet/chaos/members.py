"""The instances of a fleet under faults: killed, paused, and restarted with other settings."""

import pathlib
import signal
import time
from dataclasses import dataclass, field

from fleet.chaos.proxy import Proxy
from fleet.service import Instance, Settings

FOREVER = float("inf")


@dataclass
class Member:
    """An instance, its proxy to Redis, and the times in which it could not respond."""

    number: int
    binary: pathlib.Path
    settings: Settings
    proxy: Proxy
    # Whether a balancer sends requests to it.
    is_asked: bool = False
    # Whether this program has killed, paused or stopped it.
    is_down: bool = True
    disturbed: list[tuple[float, float]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.instance = Instance(self.binary, self.settings.text())
        self.address = ""

    def start(self, settings: Settings | None = None) -> None:
        self.settings = settings or self.settings
        self.instance.text = self.settings.text()
        self.instance.start()
        self.address = self.instance.address
        self.up()

    def down(self) -> None:
        """From now on, a request without a response is no failure."""
        self.is_down, self.is_asked = True, False
        self.disturbed.append((time.monotonic(), FOREVER))

    def up(self) -> None:
        if self.disturbed and self.disturbed[-1][1] == FOREVER:
            self.disturbed[-1] = (self.disturbed[-1][0], time.monotonic())
        self.is_down = False

    def was_disturbed(self, since: float) -> bool:
        """Whether it was killed, paused or stopped between then and now."""
        return any(end >= since for _, end in self.disturbed)

    def kill(self) -> None:
        self.down()
        self.instance.kill()

    def pause(self) -> None:
        self.down()
        self.instance.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.instance.signal(signal.SIGCONT)
        self.up()

    def stop(self) -> None:
        """Gracefully: requests in flight must be answered. The balancer notices by `/readyz`."""
        try:
            self.statuses.append(self.instance.stop())
        finally:
            self.down()

    def end(self) -> None:
        self.instance.signal(signal.SIGCONT)
        self.instance.__exit__()
