"""The shipped binary under load and faults: its settings, its addresses, what it uses."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Self

from common import site
from common.build import BINARY
from common.client import Answer, get
from common.process import memory, pipe

FRONTEND_MAP = os.environ.get("FRONTEND_MAP", str(BINARY))

# In front of a scripted CMS. Its copies get old quickly, so that it has to ask.
STRAPI = (
    """
[cms]
url = "http://{cms}"
[snapshots]
soft_seconds = 1
hard_seconds = 3600
at_start = false
"""
    + site.SITE.replace("{", "{{").replace("}", "}}")
    + site.ENDPOINT
)
FILES = site.FILE_SOURCE + site.SITE
# Nothing waits this long unless it has failed.
HANG_SECONDS = 120


class Service:
    """A running `serve` in a folder of its own, killed at the end of its `with` block.

    `settings` and `content` are the text of files, `command` is put before the binary, `variables`
    are settings by environment. With `stdout` given, the addresses are not read.
    """

    def __init__(
        self,
        settings: str,
        content: str | None = None,
        *,
        command: Sequence[str] = (),
        stdout: IO[bytes] | None = None,
        stderr: IO[bytes] | None = None,
        listen: str = "127.0.0.1:0",
        variables: Mapping[str, object] | None = None,
    ) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.settings = pathlib.Path(self.folder.name) / "settings.toml"
        self.settings.write_text(settings)
        if content is not None:
            (self.settings.parent / "content.json").write_text(content)
        given: dict[str, object] = {
            "SERVER__LISTEN": listen,
            "SERVER__ADMIN_LISTEN": "127.0.0.1:0",
            "SERVER__DRAIN_DELAY_MS": "0",
        } | dict(variables or {})
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRONT")}
        environment |= {f"FRONTEND_MAP__{name}": str(value) for name, value in given.items()}
        self.process = subprocess.Popen(
            [*command, FRONTEND_MAP, "--config", str(self.settings), "serve"],
            env=environment,
            stdout=stdout or subprocess.PIPE,
            stderr=stderr or subprocess.DEVNULL,
        )
        self.address = listen
        self.admin = ""
        if stdout is None:
            self.address = self.line()
            self.admin = self.line().split()[-1]

    def line(self) -> str:
        line = pipe(self.process.stdout).readline().decode().strip()
        if not line:
            raise SystemExit(f"the service did not start: status {self.process.wait()}")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stop(self) -> tuple[int, float]:
        """The exit status after SIGTERM, and the seconds until then."""
        begun = time.monotonic()
        self.signal(signal.SIGTERM)
        status = self.process.wait(HANG_SECONDS)
        return status, time.monotonic() - begun

    def get(self, target: str) -> Answer:
        return get(self.address, target)

    def metrics(self) -> dict[str, float]:
        """The value of each series by its name and labels, as scraped."""
        lines = get(self.admin, "/metrics").body.decode().splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the series of this name with these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        return sum(
            value
            for series, value in self.metrics().items()
            if re.split(r"[{ ]", series)[0] == name and all(label in series for label in wanted)
        )

    def memory(self) -> int:
        """Resident bytes."""
        return memory(self.process.pid, "VmRSS")

    def descriptors(self) -> int:
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))
