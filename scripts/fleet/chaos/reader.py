"""A client that follows the changes over all instances, and keeps a copy of the pages."""

import asyncio
import json
import random
import time
from collections.abc import Callable

from faults.load import Connection
from fleet.chaos.judge import named
from fleet.chaos.members import Member
from fleet.content import Content, Version, parsed
from fleet.service import SITE

PAUSE = 0.1


class Reader:
    """Each request goes to another instance, with the cursor of the previous response."""

    def __init__(self, members: list[Member], content: Content, seed: int) -> None:
        self.members, self.content = members, content
        self.random = random.Random(seed)
        self.pages: dict[Version, int] = {}
        self.cursor = ""
        self.changes = self.resets = self.repeated = 0
        # What was going on at each reset: set by the caller.
        self.during: Callable[[], str] = lambda: ""
        self.reasons: list[str] = []
        self.read_again = 0.0

    async def run(self, ended: asyncio.Event) -> None:
        while not ended.is_set():
            asked = [member for member in self.members if member.is_asked]
            if asked:
                member = self.random.choice(asked)
                connection = Connection(member.address)
                try:
                    await asyncio.wait_for(self.follow(connection), 10)
                except (OSError, EOFError, TimeoutError, ValueError, IndexError):
                    # The other clients judge failures.
                    pass
                finally:
                    connection.close()
            await asyncio.sleep(PAUSE)

    async def follow(self, connection: Connection) -> None:
        since = f"&since={self.cursor}" if self.cursor else ""
        status, _, body = await connection.get(f"/api/changes?site={SITE}{since}")
        if status != 200:
            return
        data = json.loads(body)["data"]
        if data["reset"] or not self.cursor:
            await self.read_all(connection, data["cursor"])
            return
        for change in data["changes"]:
            self.apply(change)
        self.cursor = data["cursor"]

    async def read_all(self, connection: Connection, cursor: str) -> None:
        status, _, body = await connection.get(f"/api/pages?site={SITE}")
        if status != 200:
            return
        found: dict[Version, int] = {}
        for page in json.loads(body)["data"]["pages"]:
            version = parsed(page["path"])
            if version is not None:
                found[version[0]] = version[1]
        if self.cursor:
            self.resets += 1
            self.reasons.append(self.during())
        self.pages, self.cursor, self.read_again = found, cursor, time.monotonic()

    def apply(self, change: dict[str, str]) -> None:
        version, found = named(change), parsed(change["path"])
        self.changes += 1
        if change["type"] == "gone":
            self.pages.pop(version, None)
            return
        revision = found[1] if found else -1
        if change["type"] == "added" and self.pages.get(version) == revision:
            self.repeated += 1
        self.pages[version] = revision

    def differences(self, window: float) -> list[str]:
        """Versions that are not as the CMS had them at any time in the window."""
        now, found = time.monotonic(), []
        for name in self.content.kinds:
            for version in self.content.versions(name):
                states = self.content.during(version, now - window, now)
                if self.pages.get(version) not in states:
                    found.append(f"{version}: {self.pages.get(version)}, had {states}")
        return found
