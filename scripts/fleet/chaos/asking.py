"""Clients of the fleet: each sends requests to one instance while a balancer would use it."""

import asyncio
import json
import random
import time
from collections import Counter

from faults.load import Connection
from fleet.chaos.judge import FAILED, LATE, Fault, Judge, Question, path_of
from fleet.chaos.members import Member
from fleet.content import Version, document_id
from fleet.service import SITE, list_target

# Between two health checks of a balancer, and how many of them must succeed after a failure.
CHECK_SECONDS, CHECKS = 0.25, 2
TIMEOUT = 30.0
OPERATIONS = {"list": 3, "xml": 2, "pages": 2, "resolve": 6, "frontend-url": 2, "batch": 3}
IN_BATCH = 40


class Findings:
    """Counts of responses by operation, and the faults in them. Times are since the start."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.asked: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.excused = 0
        self.texts: list[str] = []
        self.slowest = 0.0

    def add(self, member: Member, operation: str, fault: Fault, context: str) -> None:
        self.faults[fault.kind] += 1
        if fault.kind != LATE and len(self.texts) < 200:
            at = time.monotonic() - self.begun
            name = f"instance {member.number}"
            text = f"{at:7.2f} s {fault.kind} {name} {operation}: {fault.text} [{context}]"
            self.texts.append(text)
            print(f"   ! {text}", flush=True)


class Client:
    def __init__(
        self, member: Member, judge: Judge, findings: Findings, rate: float, seed: int
    ) -> None:
        self.member, self.judge, self.findings, self.rate = member, judge, findings, rate
        self.content = judge.content
        self.random = random.Random(seed)
        self.connection: Connection | None = None

    async def run(self, ended: asyncio.Event) -> None:
        while not ended.is_set():
            await asyncio.sleep(self.random.uniform(0, 2) / self.rate)
            if self.member.is_asked:
                await self.ask(self.question())

    def question(self) -> Question:
        operation = self.random.choices(list(OPERATIONS), list(OPERATIONS.values()))[0]
        kind = self.random.choice(list(self.content.kinds.values()))
        if operation in ("list", "xml"):
            more = "&xml=true" if operation == "xml" else ""
            return Question(operation, list_target(kind, more), kind=kind.name)
        if operation == "pages":
            target = f"/api/pages?site={SITE}&contentType={kind.uid}"
            return Question(operation, target, kind=kind.name)
        if operation == "batch":
            versions = list({self.version(kind.name) for _ in range(IN_BATCH)})
            documents = [
                {"uid": kind.uid, "documentId": document_id(number), "locale": locale}
                for _, number, locale in versions
            ]
            body = json.dumps({"documents": documents}).encode()
            return Question(operation, f"/api/frontend-urls?site={SITE}", body, versions=versions)
        version = self.version(kind.name)
        if operation == "frontend-url":
            query = f"uid={kind.uid}&documentId={document_id(version[1])}&locale={version[2]}"
            target = f"/api/frontend-url?site={SITE}&{query}"
            return Question(operation, target, versions=[version])
        revisions = [one for one in self.content.ever(version) if one is not None]
        now = self.content.now(version)
        is_present = now is not None and self.random.random() < 0.6
        revision = now if is_present and now is not None else self.random.choice(revisions or [0])
        path = path_of(self.member.settings, version, revision)
        target = f"/api/resolve?site={SITE}&pathname={path}"
        return Question(operation, target, versions=[version], revision=revision)

    def version(self, kind: str) -> Version:
        """Half of them have been edited."""
        if self.random.random() < 0.5:
            with self.content.lock:
                edited = [one for one in self.content.states if one[0] == kind]
            if edited:
                return self.random.choice(edited)
        locale = self.random.choice(self.content.kinds[kind].locales)
        return kind, self.random.randrange(self.content.total[kind]), locale

    async def ask(self, question: Question) -> None:
        member, settings = self.member, self.member.settings
        if self.connection is None:
            self.connection = Connection(member.address)
        begun, error = time.monotonic(), None
        # An idle connection may be closed by the server at any time: a client repeats then.
        for attempt in range(2):
            is_fresh = self.connection.streams is None
            try:
                method = "POST" if question.body else "GET"
                call = self.connection.send(method, question.target, question.body)
                status, headers, body = await asyncio.wait_for(call, TIMEOUT)
                error = None
                break
            except (OSError, EOFError, ValueError, IndexError, TimeoutError) as failure:
                self.connection.close()
                error = failure
                if is_fresh or attempt:
                    break
        seconds = time.monotonic() - begun
        if member.was_disturbed(begun):
            self.findings.excused += 1
            return
        self.findings.asked[question.operation] += 1
        self.findings.slowest = max(self.findings.slowest, seconds)
        context = f"{question.target} after {seconds:.2f} s"
        if error is not None:
            fault = Fault(FAILED, repr(error))
            self.findings.add(member, question.operation, fault, context)
            return
        for fault in self.judge.judge(question, settings, status, headers, body)[:3]:
            name = {k: headers[k] for k in ("age", "cache-status", "x-resolved-by") if k in headers}
            self.findings.add(member, question.operation, fault, f"{context} {name}")


async def balance(member: Member, ended: asyncio.Event) -> None:
    """Decides whether the instance is asked, as a balancer does by its health checks."""
    good = 0
    while not ended.is_set():
        address = member.address
        good = good + 1 if await is_ready(address) else 0
        if not good:
            member.is_asked = False
        elif good >= CHECKS and not member.is_down:
            member.is_asked = True
        await asyncio.sleep(CHECK_SECONDS)


async def is_ready(address: str) -> bool:
    connection = Connection(address)
    try:
        return (await asyncio.wait_for(connection.get("/readyz"), 1))[0] == 200
    except (OSError, EOFError, TimeoutError, ValueError, IndexError):
        return False
    finally:
        connection.close()
