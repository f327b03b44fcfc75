"""Runs a fleet under faults while documents are edited: wrong responses, and times of recovery."""

import argparse
import asyncio
import contextlib
import pathlib
import random
import shutil
import time
from collections import defaultdict

from faults.load import Connection
from faults.report import Report
from fleet.chaos import summary
from fleet.chaos.asking import Client, Findings, balance
from fleet.chaos.disturb import Disturber, of_instances, redis_faults
from fleet.chaos.judge import FAILED, Judge, Question
from fleet.chaos.members import FOREVER, Member
from fleet.chaos.proxy import Loop, Proxy
from fleet.chaos.reader import Reader
from fleet.cms import SECTION_ID, Cms
from fleet.content import Content, Kind, Version, document_id
from fleet.redis import Redis
from fleet.service import HOOK_SECRET, Settings, hook_body, list_target

KINDS = (Kind("article", ("de", "en")), Kind("page", ("en",)), Kind("story", ("en",)))
SECTION = "api::section.section"
# How many stories and their section are renamed together in a fault of webhooks.
PAIRS = 5
CLIENTS = 3
# Longer than the health checks of `balance` need to see an instance that drains.
DRAIN_MS = 1500
# Seconds between two edits, between two faults, and between two checks of agreement; the age up to
# which a row may be correct to agree; the wait after which instances count as never agreeing.
EDIT, GAP, LOOK, FRESH, PATIENCE = 0.6, 1.5, 0.1, 2.0, 40.0
TWO_AT_ONCE = 0.3
# The longest delay of a walk that begins because Redis is unavailable, in seconds.
JITTER = 5
# Until then after Redis's return, an instance may have changes that it has not merged, and
# give out cursors that no other instance knows.
MERGED = 3.0
# Seconds after a deploy of other settings until the log of changes begins again: two checks in a
# row, five seconds apart, must find that no instance has the old ones.
ABANDONED = 12.0


class Chaos:
    def __init__(self, binary: pathlib.Path, options: argparse.Namespace, redis: Redis) -> None:
        self.options, self.redis = options, redis
        # Of the editors; that of the faults is another one, so that a seed repeats their order.
        self.random = random.Random(options.seed + 1)
        self.of_faults = random.Random(options.seed)
        self.content = Content(KINDS, options.documents)
        self.cms, thread = Cms(self.content), Loop()
        self.members = [self.member(binary, number, thread) for number in range(options.instances)]
        longest = options.longest or (60.0 if options.seconds >= 300 else 6.0)
        self.disturber = Disturber(self.members, redis, self.of_faults, longest)
        self.findings = Findings()
        self.judge = Judge(self.content, alone=options.soft + JITTER + 1)
        self.away_until = self.rolled_at = 0.0
        self.judge.away_until = lambda: self.away_until
        self.reader = Reader(self.members, self.content, options.seed)
        self.ended = asyncio.Event()
        self.running: list[str] = []
        self.edits = self.hooks = self.lost_hooks = 0
        # Webhooks that are lost on purpose, and pairs that are sent to two instances.
        self.dropped_hooks = self.split_hooks = 0
        # Seconds by the name of a fault.
        self.recovery: dict[str, list[float]] = defaultdict(list)
        self.probes: dict[str, list[float]] = defaultdict(list)
        self.never: list[str] = []

    def member(self, binary: pathlib.Path, number: int, thread: Loop) -> Member:
        proxy = Proxy(thread, self.redis.port, self.options.seed * 1000 + number)
        settings = Settings(
            self.cms.url,
            KINDS,
            proxy.address,
            soft=self.options.soft,
            check=self.options.soft,
            drain_ms=DRAIN_MS,
        )
        return Member(number, binary, settings, proxy)

    async def run(self) -> None:
        for member in self.members:
            await asyncio.to_thread(member.start)
        tasks = [asyncio.create_task(balance(member, self.ended)) for member in self.members]
        for member in self.members:
            await self.disturber.until_asked(member)
        for at, member in enumerate(self.members * CLIENTS):
            rate, seed = self.options.rate / CLIENTS, self.options.seed + at
            client = Client(member, self.judge, self.findings, rate, seed)
            tasks.append(asyncio.create_task(client.run(self.ended)))
        self.reader.during = self.under_way
        tasks.append(asyncio.create_task(self.reader.run(self.ended)))
        editor = asyncio.create_task(self.edit_on())
        self.findings.begun = begun = time.monotonic()
        try:
            while time.monotonic() - begun < self.options.seconds:
                await self.disturb()
                failed = [task for task in [*tasks, editor] if task.done()]
                for task in failed:
                    task.result()
        finally:
            editor.cancel()
            self.disturber.lift()
        await self.end()
        self.ended.set()
        await asyncio.gather(*tasks)

    def under_way(self) -> str:
        """What a reset may be due to."""
        now, names = time.monotonic(), list(self.running)
        if now < self.away_until + MERGED:
            names.append("return")
        if now < self.rolled_at + ABANDONED:
            names.append("rolled")
        return "+".join(names) or "start"

    async def disturb(self) -> None:
        """Causes one or two faults, and waits until all instances agree."""
        known = self.disturber.all() | {
            "lose-webhooks": (3, self.lose_webhooks),
            "split-webhooks": (3, self.split_webhooks),
        }
        wanted = [name for name in self.options.faults.split(",") if name]
        weights = {name: weight for name, (weight, _) in known.items()}
        weights = {name: weights.get(name, 1) for name in wanted} if wanted else weights
        names = self.choose(weights).split("+")
        if self.of_faults.random() < TWO_AT_ONCE and len(weights) > 1 and len(names) == 1:
            second = self.choose(weights)
            both = {names[0], second}
            if len(both) == 2 and not both <= redis_faults() and "roll" not in both:
                names.append(second)
        self.running, probes = names, list[asyncio.Task[None]]()
        # The probe is made when the fault is there, and takes as long as the fleet needs.
        label = "+".join(names)

        def begun() -> None:
            probes.append(asyncio.create_task(self.probe(label)))

        self.disturber.begun = begun
        if not set(names) <= of_instances():
            self.away_until = FOREVER
        at = time.monotonic() - self.findings.begun
        self.disturber.taken.clear()
        done = await asyncio.gather(*(known[name][1]() for name in names))
        seconds = await self.until_agree()
        await asyncio.gather(*probes)
        self.away_until = min(self.away_until, time.monotonic())
        if "roll" in names:
            self.rolled_at = time.monotonic()
        what = "; ".join(one for one in done if one) or "nothing: too few are up"
        print(f"   {at:7.2f} s {label}: {what}; all agree after {seconds:.2f} s", flush=True)
        self.recovery[label].append(seconds)
        await asyncio.sleep(self.of_faults.uniform(0, 2) * GAP)

    def choose(self, weights: dict[str, int]) -> str:
        return self.of_faults.choices(list(weights), list(weights.values()))[0]

    async def edit_on(self) -> None:
        while True:
            await asyncio.sleep(self.random.uniform(0, 2) * EDIT)
            kind = self.random.choice(KINDS)
            chance = self.random.random()
            if chance < 0.08:
                number = self.content.create(kind.name)
            else:
                number = self.random.randrange(self.content.total[kind.name])
            version = (kind.name, number, self.random.choice(kind.locales))
            await self.edit(version, unpublish=chance > 0.8)

    async def edit(self, version: Version, *, unpublish: bool = False) -> int | None:
        """Renames, publishes or unpublishes a version; the webhook goes through the balancer."""
        is_published = self.content.now(version) is not None
        revision = None if unpublish and is_published else self.content.next_revision(version)
        self.content.edit(version, revision)
        self.edits += 1
        event = "entry.unpublish" if revision is None else "entry.publish"
        body = hook_body(f"api::{version[0]}.{version[0]}", document_id(version[1]), event)
        # A balancer tries the next instance where no connection can be made.
        for _ in range(5):
            asked = [member for member in self.members if member.is_asked]
            if asked and await self.hook(self.random.choice(asked), body):
                self.hooks += 1
                return revision
            await asyncio.sleep(0.05)
        self.lost_hooks += 1
        return revision

    async def lose_webhooks(self) -> str:
        """Stories are renamed and their webhooks are lost; then their section is renamed."""
        self.disturber.begun()
        for _ in range(PAIRS):
            self.rename_story()
            self.dropped_hooks += 1
            self.content.rename_section()
            await self.send(hook_body(SECTION, SECTION_ID, "entry.publish"))
            await asyncio.sleep(self.of_faults.uniform(0, 2) * EDIT)
        return f"{PAIRS} webhooks lost"

    async def split_webhooks(self) -> str:
        """The webhooks of a story and of its section reach two instances at the same time."""
        self.disturber.begun()
        for _ in range(PAIRS):
            bodies = [self.rename_story(), hook_body(SECTION, SECTION_ID, "entry.publish")]
            self.content.rename_section()
            asked = [member for member in self.members if member.is_asked]
            if len(asked) > 1:
                self.of_faults.shuffle(bodies)
                both = self.of_faults.sample(asked, 2)
                calls = (self.hook(one, body) for one, body in zip(both, bodies, strict=True))
                self.split_hooks += all(await asyncio.gather(*calls))
            await asyncio.sleep(self.of_faults.uniform(0, 2) * EDIT)
        return f"{PAIRS} pairs of webhooks split"

    def rename_story(self) -> bytes:
        """The webhook about it."""
        number = self.of_faults.randrange(self.content.total["story"])
        version = ("story", number, "en")
        self.content.edit(version, self.content.next_revision(version))
        self.edits += 1
        return hook_body("api::story.story", document_id(number), "entry.publish")

    async def send(self, body: bytes) -> None:
        asked = [member for member in self.members if member.is_asked]
        if asked:
            await self.hook(self.of_faults.choice(asked), body)

    async def hook(self, member: Member, body: bytes) -> bool:
        connection, begun = Connection(member.address), time.monotonic()
        try:
            authorization = f"Bearer {HOOK_SECRET}"
            call = connection.send("POST", "/hooks/cms", body, authorization=authorization)
            status, _, text = await asyncio.wait_for(call, 5)
        except (OSError, EOFError, TimeoutError, ValueError, IndexError) as error:
            status, text = 0, repr(error).encode()
        finally:
            connection.close()
        if status != 202 and not member.was_disturbed(begun):
            self.findings.faults[FAILED] += 1
            self.findings.texts.append(f"webhook at instance {member.number}: {status} {text!r}")
            print(f"   ! {self.findings.texts[-1]}", flush=True)
        return status == 202

    async def probe(self, label: str) -> None:
        """An edit in the fault: seconds until all instances that are asked show it."""
        own = random.Random(self.edits)
        version = ("page", own.randrange(self.options.documents), "en")
        revision, begun = await self.edit(version), time.monotonic()
        while time.monotonic() - begun < PATIENCE:
            asked = [member for member in self.members if member.is_asked]
            shown = await asyncio.gather(*(self.agrees(one, FRESH, version) for one in asked))
            if asked and all(shown):
                self.probes[label].append(time.monotonic() - begun)
                return
            if self.content.now(version) != revision:
                # Edited again meanwhile: that one is the probe now.
                revision = self.content.now(version)
            await asyncio.sleep(LOOK)
        self.never.append(f"an edit in {label}")

    async def until_agree(self, window: float = FRESH) -> float:
        """Seconds until all instances are asked and have the lists of the CMS."""
        begun = time.monotonic()
        while time.monotonic() - begun < PATIENCE:
            shown = await asyncio.gather(*(self.agrees(one, window) for one in self.members))
            if all(shown):
                return time.monotonic() - begun
            await asyncio.sleep(LOOK)
        self.never.append("+".join(self.running))
        return PATIENCE

    async def agrees(self, member: Member, window: float, only: Version | None = None) -> bool:
        """Whether its lists are those of the CMS; `Age` is no excuse."""
        if not member.is_asked:
            return False
        connection, judge = Connection(member.address), Judge(self.content, window)
        try:
            for kind in KINDS:
                question = Question("list", list_target(kind), kind=kind.name)
                call = connection.get(question.target)
                status, headers, body = await asyncio.wait_for(call, 10)
                headers.pop("age", None)
                if only is not None and only[0] == kind.name:
                    rows = judge.read_list(question, member.settings, body)
                    return rows.get(only) == self.content.now(only)
                if only is None and judge.judge(question, member.settings, status, headers, body):
                    return False
        except (OSError, EOFError, TimeoutError, ValueError, IndexError, KeyError, TypeError):
            return False
        finally:
            connection.close()
        return only is None

    async def end(self) -> None:
        """Waits, without faults and edits, until all have exactly the content of the CMS."""
        for member in self.members:
            await self.disturber.until_asked(member)
        await self.until_agree(0.0)
        for _ in range(int(PATIENCE / LOOK)):
            if not self.reader.differences(0.0):
                return
            await asyncio.sleep(LOOK)


def run(binary: pathlib.Path, options: argparse.Namespace) -> None:
    report = Report(
        f"chaos: {options.seconds:.0f} s, {options.instances} instances, seed {options.seed}"
    )
    with Redis() as redis:
        chaos = Chaos(binary, options, redis)
        try:
            asyncio.run(chaos.run())
            summary.show(report, chaos)
        finally:
            for member in chaos.members:
                if options.log:
                    options.log.mkdir(parents=True, exist_ok=True)
                    with contextlib.suppress(OSError):
                        shutil.copy(
                            member.instance.folder / "log", options.log / f"{member.number}.log"
                        )
                member.end()
