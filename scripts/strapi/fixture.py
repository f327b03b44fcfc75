"""The real Strapi of `tests/strapi`: its process, its tokens, and the oracle of its content."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

from common.build import ROOT
from common.client import free_port

FOLDER = ROOT / "tests/strapi"
READ_TOKEN, FULL_TOKEN = "lab-read-only-token", "lab-full-access-token"
# The second one may read articles and landing pages alone.
EXPIRED_TOKEN, CUSTOM_TOKEN = "lab-expired-token", "lab-custom-token"
WRONG_TOKEN = "canary-of-a-wrong-token"
TOKENS = (READ_TOKEN, FULL_TOKEN, WRONG_TOKEN)
CANNOT_SET_UP = 2
# What an endpoint of the fixture throws, which some settings name on purpose.
THROWN = "a plain Error with a secret in it"
# `[2026-01-01 00:00:00.000] error: …`, also with colours.
ERROR_LINE = re.compile(r"^\[[^\]]*\] (\x1b\[\d+m)?error")
# Settings of the fixture that must not come from outside.
OWN_VARIABLES = (
    "REST_MAX_LIMIT",
    "REST_DEFAULT_LIMIT",
    "STRICT",
    "WEBHOOK_URL",
    "FRONTEND_MAP_URL",
    "FRONTEND_MAP_HOOK",
)


class Strapi:
    """A Strapi on a port and with a database of its own; its first start seeds the content.

    `bulk` writes the articles into the database directly. `variables` are added to its environment.
    """

    def __init__(self, articles: int, bulk: bool, variables: Mapping[str, str]) -> None:
        # The errors in the logs before the present one.
        self.errors: list[str] = []
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        # The path that the fixture's script gives it.
        lab = os.environ.get("LAB_DIR") or "~/.cache/strapi-lab"
        self.database = pathlib.Path(lab).expanduser() / f".tmp/e2e-{port}.db"
        self.environment = {k: v for k, v in os.environ.items() if k not in OWN_VARIABLES} | {
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "SEED_ARTICLES": str(articles),
            "SEED_MODE": "bulk" if bulk else "service",
            # The articles that change are made by Strapi itself in any case.
            "SEED_SERVICE_FIRST": "5",
            "DATABASE_CLIENT": "sqlite",
            "DATABASE_FILENAME": f".tmp/{self.database.name}",
            **variables,
        }

    def run(self, verb: str) -> None:
        """One verb of the fixture's script; its output is shown where it fails."""
        done = subprocess.run(
            [FOLDER / "start.sh", verb],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode:
            print(done.stdout.decode(errors="replace")[-4000:])
            print(f"the Strapi fixture cannot {verb}")
            raise SystemExit(CANNOT_SET_UP)

    def start(self) -> None:
        self.run("start")

    def stop(self) -> None:
        self.run("stop")
        # The next start begins a new log.
        self.errors += self.log_errors()

    def log_errors(self) -> list[str]:
        """The errors in the log since the start."""
        log = self.database.with_name(f"strapi-{self.environment['PORT']}.log")
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        lines = filter(ERROR_LINE.search, text.splitlines())
        return [line for line in lines if THROWN not in line]


@contextlib.contextmanager
def running(
    articles: int, bulk: bool, variables: Mapping[str, str] | None = None
) -> Iterator[Strapi]:
    """Installed if it is not yet (minutes), started with fresh content, removed at the end."""
    strapi = Strapi(articles, bulk, variables or {})
    print("installing the Strapi fixture, where that is not done yet (minutes)", flush=True)
    strapi.run("install")
    print("starting Strapi (its first start seeds the content)", flush=True)
    try:
        strapi.start()
        yield strapi
    finally:
        strapi.run("reset")


class Oracle:
    """What must come out, computed from the plan of the content alone."""

    def __init__(self, articles: int, base: str) -> None:
        self.articles, self.base = str(articles), base

    def lines(self, kind: str, uid: str, template: str, articles: str) -> list[str]:
        script = FOLDER / "tools/oracle.js"
        command = ["node", str(script), kind, uid, template, articles, self.base]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode("utf-8").splitlines()

    def sitemap(self, uid: str, template: str) -> list[str]:
        """The URLs of a type, in no order."""
        return self.lines("sitemap", uid, template, self.articles)

    def documents(self, uid: str, template: str) -> list[dict[str, Any]]:
        """Each document, locale and status, with its `path` or the `reason` why it has none."""
        return [json.loads(line) for line in self.lines("url", uid, template, self.articles)]

    def first(self, uid: str, template: str) -> dict[str, Any]:
        """The first of `documents`."""
        found: dict[str, Any] = json.loads(self.lines("url", uid, template, "1")[0])
        return found
