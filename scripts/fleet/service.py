"""Instances of the service that share a Redis: settings, processes, roles."""

import json
import pathlib
import shutil
import signal
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from common.client import Answer, get, send, until
from common.process import HANG_SECONDS
from common.service import ANY_PORT, Service
from fleet.content import WITH_SECTION, Kind
from fleet.redis import PREFIX, own_folder

HOOK_SECRET = "secret-of-the-fleet-check"
# 32 bytes: what `shared.key_file` needs at least.
KEY = "0123456789abcdef0123456789abcdef"
BASE = "https://www.example.com"
SITE = "main"


@dataclass(frozen=True)
class Settings:
    """One site with a rule for each kind. `word` is a part of all paths: another word is another
    settings file. `redis` is an address; empty: without [shared]."""

    cms: str
    kinds: tuple[Kind, ...]
    redis: str = ""
    word: str = "a"
    base: str = BASE
    resolve: str = "documents"
    soft: int = 3600
    check: int = 3600
    drain_ms: int = 0
    more: str = ""

    def path(self, kind: str, locale: str, slug: str) -> str:
        return f"/{locale}/{self.word}/{kind}/{slug}"

    def text(self) -> str:
        locales = sorted({locale for kind in self.kinds for locale in kind.locales})
        lines = ["[server]", f"drain_delay_ms = {self.drain_ms}", "[cms]", f'url = "{self.cms}"']
        lines += ["[limits]", "walk_deadline_ms = 900000", "[snapshots]"]
        lines += [f"soft_seconds = {self.soft}", f"check_seconds = {self.check}"]
        lines += ["hard_seconds = 86400", "cms_share = 1.0", self.more]
        if self.redis:
            lines += ["[shared]", f'url = "redis://{self.redis}"', f'prefix = "{PREFIX}"']
            lines += ['key_file = "key"']
        lines += ["[[site]]", f'key = "{SITE}"', f'front_end_url = "{self.base}"']
        lines += [f"locales = {json.dumps(locales)}", f'resolve = "{self.resolve}"']
        for kind in self.kinds:
            end = "{section.slug}/{slug}" if kind.name in WITH_SECTION else "{slug}"
            template = self.path(kind.name, "{locale}", end)
            lines += ["[[site.rule]]", f'content_type = "{kind.uid}"', f'template = "{template}"']
        for kind in self.kinds:
            lines += ["[[content_type]]", f'uid = "{kind.uid}"', f'endpoint = "{kind.name}s"']
        return "\n".join(lines) + "\n"


class Instance:
    """A running `serve`, killed at the end of its `with` block. It may be started again at the same
    addresses, with other settings."""

    def __init__(
        self,
        binary: pathlib.Path,
        text: str,
        overrides: Mapping[str, object] | None = None,
        log: str = "info",
    ) -> None:
        self.binary, self.text, self.log_level = binary, text, log
        self.overrides = dict(overrides or {})
        self.folder = own_folder()
        (self.folder / "key").write_text(KEY)
        self.address = self.admin = ANY_PORT
        self.service: Service | None = None
        self.lives = 0

    def start(self) -> None:
        """Waits until it listens, not until it is ready."""
        self.lives += 1
        file = self.folder / "settings.toml"
        file.write_text(self.text, encoding="utf-8")
        # The same addresses after a restart, as behind a balancer.
        given = {"SERVER__LISTEN": self.address, "SERVER__ADMIN_LISTEN": self.admin}
        self.service = Service(
            file,
            given | {"HOOKS__SECRET": HOOK_SECRET} | self.overrides,
            binary=self.binary,
            variables={"RUST_LOG": self.log_level, "RUST_BACKTRACE": "1"},
            log=self.folder / "log",
        )
        self.address, self.admin = self.service.address, self.service.admin

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def running(self) -> Service:
        assert self.service is not None, "it has not been started"
        return self.service

    def kill(self) -> None:
        if self.service is not None:
            self.service.kill()
            self.service = None

    def signal(self, number: signal.Signals) -> None:
        if self.service is not None:
            self.service.signal(number)

    def stop(self) -> int:
        """The status after SIGTERM."""
        status = self.running().stop()
        self.service = None
        return status

    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def get(self, target: str, timeout: float = HANG_SECONDS) -> Answer:
        return get(self.address, target, timeout)

    def hook(self, uid: str, document: str, event: str = "entry.publish") -> int:
        """The status of a webhook of Strapi about a document."""
        return post_hook(self.address, uid, document, event)

    def is_ready(self) -> bool:
        return self.get("/readyz", 5).status == 200

    def details(self) -> Any:
        return json.loads(get(self.admin, "/readyz", 5).body)

    def memory(self, name: str = "VmRSS") -> int:
        return self.running().memory(name)

    def shared(self) -> dict[str, dict[str, Any]]:
        """The status of each shared list in `/readyz`, with its role and its version."""
        types = self.details()["contentTypes"]
        return {f"{one['site']} {one['contentType']}": one.get("shared") or {} for one in types}

    def roles(self) -> dict[str, str]:
        """`alone`, `leader` or `follower`; empty where nothing is shared."""
        lists = self.shared().items()
        return {name: shared["role"] for name, shared in lists if "role" in shared}

    def leads(self) -> int:
        """How many lists it leads."""
        return list(self.roles().values()).count("leader")


def hook_body(uid: str, document: str, event: str) -> bytes:
    entry: dict[str, object] = {"documentId": document}
    if event == "entry.publish":
        entry["publishedAt"] = "2024-03-06T22:19:54.649Z"
    return json.dumps({"event": event, "uid": uid, "entry": entry}).encode()


def post_hook(address: str, uid: str, document: str, event: str) -> int:
    headers = {"Authorization": f"Bearer {HOOK_SECRET}", "Content-Type": "application/json"}
    body = hook_body(uid, document, event)
    request = urllib.request.Request(f"http://{address}/hooks/cms", body, headers)
    return send(request, HANG_SECONDS).status


def list_target(kind: Kind, more: str = "") -> str:
    return f"/api/build-sitemap?site={SITE}&contentType={kind.uid}{more}"


def wait_until_ready(instances: list[Instance], patience: float = 600) -> float:
    """Seconds until each instance is ready and has all lists."""
    begun = time.monotonic()
    for instance in instances:
        if until(instance.is_ready, patience, 0.02) is None:
            raise SystemExit(f"an instance is not ready\n{instance.log()[-4000:]}")
    return time.monotonic() - begun


def adopted(instances: list[Instance]) -> bool:
    """Whether each list has one leader, all others follow it, and all have its version."""
    lists = [instance.shared() for instance in instances]
    for name in lists[0]:
        shared = [one.get(name, {}) for one in lists]
        roles = sorted(one.get("role", "") for one in shared)
        if roles != ["follower"] * (len(instances) - 1) + ["leader"]:
            return False
        if shared[0].get("version") is None or len({one.get("version") for one in shared}) > 1:
            return False
    return True
