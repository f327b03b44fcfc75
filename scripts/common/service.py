"""The service: the binary with `serve` and a settings file."""

import os
import pathlib
import re
from collections.abc import Mapping, Sequence

from common.build import BINARY
from common.client import get
from common.process import NOWHERE, Server

# What the commands run that do not measure.
FRONTEND_MAP = pathlib.Path(os.environ.get("FRONTEND_MAP", BINARY))
ANY_PORT = "127.0.0.1:0"


def variables_of(settings: Mapping[str, object]) -> dict[str, object]:
    """The variables that have these settings: `CMS__TOKEN` is `cms.token`."""
    return {f"FRONTEND_MAP__{name}": value for name, value in settings.items()}


class Service(Server):
    """A running `serve`, which listens on free ports unless `overrides` say otherwise.

    `overrides` are settings by environment (`CMS__TOKEN`), which win over the file; `variables` are
    all others. `before` is put before the binary. With an empty admin address it does not listen
    there.
    """

    def __init__(
        self,
        settings: pathlib.Path,
        overrides: Mapping[str, object] | None = None,
        *,
        binary: pathlib.Path = BINARY,
        before: Sequence[str] = (),
        variables: Mapping[str, object] | None = None,
        log: pathlib.Path | None = NOWHERE,
        stdout: pathlib.Path | None = None,
    ) -> None:
        given = {"SERVER__LISTEN": ANY_PORT, "SERVER__ADMIN_LISTEN": ANY_PORT} | dict(
            overrides or {}
        )
        super().__init__(
            *before,
            *(binary, "--config", settings, "serve"),
            variables=dict(variables or {}) | variables_of(given),
            log=log,
            stdout=stdout,
        )
        # Where stdout is a file, they are those of the settings.
        self.address = self.address or str(given["SERVER__LISTEN"])
        self.admin = str(given["SERVER__ADMIN_LISTEN"])
        if stdout is None and self.admin:
            self.admin = self.line().split()[-1]

    def metrics(self, timeout: float = 30) -> dict[str, float]:
        """The value of each series by its name and labels, as scraped."""
        lines = get(self.admin, "/metrics", timeout).body.decode().splitlines()
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
