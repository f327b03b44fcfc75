"""Compares a response of an instance with the oracle of the content.

A response may show what the CMS had at any time in its window: the last five seconds, or the longer
time that its `Age` states. Without Redis, if another instance got the webhook of an edit, an
instance shows the edit after its own next walk. So a response of `/api/resolve` may be older by the
time between two walks: once an instance has walked by itself, its responses have no `Age` before
ten walks are missed. A list is judged row by row, because a walk takes time: each row must have
been right within the window, and no row that was there all that time may be missing.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.content import Content, Revision, Version, document_id, number_of, parsed, path_end
from fleet.service import Settings

WINDOW = 5.0
WRONG, PARTIAL, FAILED, LATE = "wrong", "partial", "failed", "late"
# A path that the version never had.
NEVER_WAS = "never was"
LOC = re.compile(rb"<loc>([^<]*)</loc>")


@dataclass
class Question:
    """A request, and the versions that it is about."""

    operation: str
    target: str
    body: bytes = b""
    kind: str = ""
    versions: list[Version] = field(default_factory=list)
    # The revision whose path is resolved.
    revision: int = 0


@dataclass
class Fault:
    """`kind` is one of the five. A late response is within its `Age`, and counts as no fault."""

    kind: str
    text: str


class Judge:
    """`settings` are those of the instance that responds."""

    def __init__(self, content: Content, window: float = WINDOW, alone: float = WINDOW) -> None:
        self.content, self.window, self.alone = content, window, alone
        # Until when an instance may have been without Redis.
        self.away_until: Callable[[], float] = lambda: 0.0

    def judge(
        self,
        question: Question,
        settings: Settings,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
    ) -> list[Fault]:
        now = time.monotonic()
        if status == 404 and question.operation == "frontend-url":
            rows: dict[Version, Revision] = {question.versions[0]: None}
        elif status != 200:
            return [Fault(FAILED, f"{status} {body[:300]!r}")]
        else:
            try:
                read = getattr(self, "read_" + question.operation.replace("-", "_"))
                rows = read(question, settings, body)
            except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
                return [Fault(WRONG, f"unreadable: {error!r}: {body[:300]!r}")]
        age = headers.get("age")
        # Whole seconds, rounded down, and those of the way.
        stated = int(age) + 1.5 if age is not None else 0.0
        if age is None and now - self.away_until() < self.alone:
            stated = self.alone
        found = list(self.compare(question, rows, now, max(self.window, stated)))
        if (
            not found
            and stated > self.window
            and list(self.compare(question, rows, now, self.window))
        ):
            return [Fault(LATE, f"age {age}")]
        return found

    def compare(
        self, question: Question, rows: dict[Version, Revision], now: float, window: float
    ) -> Iterable[Fault]:
        since = now - window
        asked = question.versions or list(self.content.versions(question.kind))
        for version in asked:
            states = self.content.during(version, since, now)
            shown = rows.get(version)
            if question.operation == "resolve" and shown is None:
                # It was without this path; the history need not know where it is now.
                is_right = states != {question.revision}
            else:
                is_right = shown in states
            if is_right:
                continue
            kind = PARTIAL if shown is None and not question.versions else WRONG
            if shown is not None and shown not in self.content.ever(version):
                kind = NEVER_WAS
            yield Fault(kind, f"{version}: {shown}, had {states} in {window:.1f} s")
        for version in rows.keys() - set(asked):
            if not self.content.exists(version):
                yield Fault(WRONG, f"{version} does not exist")

    def row(self, settings: Settings, path: str, rows: dict[Version, Revision]) -> None:
        """Adds the version of a path, which must be exactly that of the settings."""
        found = parsed(path)
        if found is None:
            raise ValueError(f"no path of this content: {path}")
        version, revision = found
        if version in rows:
            raise ValueError(f"twice: {version}")
        if path.removeprefix(settings.base) != path_of(settings, version, revision):
            raise ValueError(f"not the path of {version}: {path}")
        rows[version] = revision

    def read_list(
        self, question: Question, settings: Settings, body: bytes
    ) -> dict[Version, Revision]:
        data, rows = json.loads(body)["data"], dict[Version, Revision]()
        for url in data["urls"]:
            self.row(settings, url, rows)
        if data["count"] != len(rows):
            raise ValueError(f"count {data['count']}, {len(rows)} URLs")
        return rows

    def read_xml(
        self, question: Question, settings: Settings, body: bytes
    ) -> dict[Version, Revision]:
        if not body.endswith(b"</urlset>"):
            raise ValueError("the XML has no end")
        rows = dict[Version, Revision]()
        for url in LOC.findall(body):
            self.row(settings, url.decode(), rows)
        return rows

    def read_pages(
        self, question: Question, settings: Settings, body: bytes
    ) -> dict[Version, Revision]:
        data, rows = json.loads(body)["data"], dict[Version, Revision]()
        for page in data["pages"]:
            self.row(settings, page["path"], rows)
            version, _ = parsed(page["path"]) or (None, 0)
            if version != named(page):
                raise ValueError(f"the path of {version} has {page}")
        if data["count"] != len(rows):
            raise ValueError(f"count {data['count']}, {len(rows)} pages")
        return rows

    def read_resolve(
        self, question: Question, settings: Settings, body: bytes
    ) -> dict[Version, Revision]:
        """The version has the path; or another revision is behind a redirect; or it is gone."""
        data, version = json.loads(body)["data"], question.versions[0]
        if data["kind"] == "document":
            if data["documentId"] != document_id(version[1]):
                raise ValueError(f"another document: {data['documentId']}")
            return {version: question.revision}
        if data["kind"] == "redirect":
            rows = dict[Version, Revision]()
            self.row(settings, data["redirect"]["path"], rows)
            if set(rows) != {version} or rows[version] == question.revision:
                raise ValueError(f"a redirect elsewhere: {data['redirect']}")
            return rows
        if data["kind"] != "none":
            raise ValueError(f"kind {data['kind']}")
        return {version: None}

    def read_frontend_url(
        self, question: Question, settings: Settings, body: bytes
    ) -> dict[Version, Revision]:
        rows = dict[Version, Revision]()
        self.row(settings, json.loads(body)["data"]["path"], rows)
        return rows

    def read_batch(
        self, question: Question, settings: Settings, body: bytes
    ) -> dict[Version, Revision]:
        rows = dict[Version, Revision]()
        for result in json.loads(body)["data"]["results"]:
            if "path" in result:
                self.row(settings, result["path"], rows)
            elif result["reason"] not in ("no_version", "unknown"):
                raise ValueError(f"{result}")
        return rows


def path_of(settings: Settings, version: Version, revision: int) -> str:
    return settings.path(version[0], version[2], path_end(version, revision))


def named(page: dict[str, Any]) -> Version:
    """The version that a page or a change names."""
    name = page["contentType"].rpartition(".")[2]
    return name, number_of(page["documentId"]), page["locale"]
