"""The service under load and faults, with a folder of its own."""

import pathlib
import tempfile
import time
from collections.abc import Mapping, Sequence

from common import service, site
from common.client import Answer, get
from common.process import NOWHERE

# In front of a scripted CMS. Its snapshots get old quickly, so that it has to ask.
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


class Service(service.Service):
    """A running `serve` whose settings and content are given as texts."""

    def __init__(
        self,
        settings: str,
        content: str | None = None,
        overrides: Mapping[str, object] | None = None,
        *,
        before: Sequence[str] = (),
        log: pathlib.Path | None = NOWHERE,
        stdout: pathlib.Path | None = None,
    ) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.settings = pathlib.Path(self.folder.name) / "settings.toml"
        self.settings.write_text(settings)
        if content is not None:
            (self.settings.parent / "content.json").write_text(content)
        super().__init__(
            self.settings,
            {"SERVER__DRAIN_DELAY_MS": 0} | dict(overrides or {}),
            binary=service.FRONTEND_MAP,
            before=before,
            log=log,
            stdout=stdout,
        )

    def __exit__(self, *error: object) -> None:
        self.kill()
        self.folder.cleanup()

    def stop_timed(self) -> tuple[int, float]:
        """The exit status after SIGTERM, and the seconds until then."""
        begun = time.monotonic()
        return self.stop(), time.monotonic() - begun

    def get(self, target: str) -> Answer:
        return get(self.address, target)
