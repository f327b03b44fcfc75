#!/usr/bin/env python3
"""Runs two builds side by side on the same random input and prints what differs.

In each of many worlds (random settings and content; a content file, or a scripted CMS that is
healthy or fails in one way) both builds get the same random requests, one after the other: status,
headers and bodies are compared. Then the commands `check`, `explain`, `sitemap` and `validate` in
these worlds, and `check` and `serve` with settings that may be wrong: exit status, output for
programs and written files are compared.

A response that differs is asked for again for some seconds, and counted apart if both are equal
then: the two processes read their lists at different moments.

Not compared are the texts of messages (each changed one is printed once, old and new), request ids
that the service made, and the values of Date, Age, Last-Modified and of numbers in Cache-Status.
Compare a build with itself first: what differs then depends on chance. Equal seeds give equal
input. Ends with status 1 if something differs, also if it does so for a moment alone.
"""

import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

from builds import peers
from builds.client import Connection, Request, Response
from builds.differences import Differences, comparable
from builds.generate import DRAFT_TOKEN, HOOK_SECRET, TYPES, VALIDATE_TOKEN, Generator, World
from builds.sites import SiteGenerator
from common.client import until
from common.process import HANG_SECONDS, Process, environment

REQUESTS_OF_A_WORLD, REQUESTS_OF_A_FAILING_WORLD = 500, 40
# How long responses may differ.
AGAIN_SECONDS = 3
# The number of settings files for each request.
SETTINGS_RATIO = 0.01
ENDPOINTS = {endpoint: uid for uid, endpoint in TYPES.items()}
SECRETS = {
    "FRONTEND_MAP__CMS__TOKEN": "token",
    "FRONTEND_MAP__AUTH__VALIDATE_TOKEN": VALIDATE_TOKEN,
    "FRONTEND_MAP__AUTH__DRAFT_TOKEN": DRAFT_TOKEN,
    "FRONTEND_MAP__HOOKS__SECRET": HOOK_SECRET,
}
# Parts of reports and logs that are of the run and not of the build.
OF_THE_RUN = re.compile(
    r"\b\d{4}-\d\d-\d\d[T ][\d:.]+Z?|127\.0\.0\.1:\d+|/[^ \"',]*?/build-[01]\b|\b[\d.]+ ?(?:ms|s)\b"
    r"|(?<=_id\":\")[0-9a-f]+|\bpid=\d+"
)


class Result(NamedTuple):
    status: int | None
    stdout: str
    stderr: str


class Build:
    """One of the two builds, in a folder of its own."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path) -> None:
        self.binary, self.folder = binary, folder
        folder.mkdir()

    def write(self, settings: str, content: str) -> None:
        (self.folder / "settings.toml").write_text(settings, encoding="utf-8")
        content_file = self.folder / "content.json"
        content_file.write_text(content, encoding="utf-8", errors="surrogatepass")
        # Equal in both folders: it may be in an answer.
        os.utime(content_file, (1_700_000_000, 1_700_000_000))

    def command(self, *arguments: str) -> list[str]:
        return [str(self.binary), "--config", "settings.toml", *arguments]

    def run(self, *arguments: str) -> Result:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=environment(SECRETS),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HANG_SECONDS,
        )
        return Result(done.returncode, decode(done.stdout), decode(done.stderr))

    def start(self) -> Process:
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        return Process(*self.command("serve"), variables=SECRETS, folder=self.folder, log=log)

    def serve(self) -> int:
        """The status of `serve` that is stopped as soon as it has printed its address."""
        with self.start() as process:
            return process.stop() if process.line_or_end() else process.wait()

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        """Its address; empty: it refuses the settings."""
        with self.start() as process:
            yield process.line_or_end() or ""

    def files(self, name: str) -> dict[str, str]:
        """The text of each file below a folder."""
        folder = self.folder / name
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        return {str(file.relative_to(folder)): decode(file.read_bytes()) for file in files}


def decode(text: bytes) -> str:
    return OF_THE_RUN.sub("…", text.decode("utf-8", "backslashreplace"))


class Comparison:
    def __init__(self, old: Build, new: Build, generate: Generator) -> None:
        self.old, self.new = old, new
        self.generate = generate
        self.differences = Differences()
        self.front_end = peers.front_end()

    def write(self, settings: str, content: str) -> None:
        for build in (self.old, self.new):
            build.write(settings, content)

    def results(self, kind: str, *arguments: str) -> tuple[Result, Result]:
        """Of a command: its status is compared, its texts are messages."""
        old, new = self.old.run(*arguments), self.new.run(*arguments)
        self.differences.equal(kind, " ".join(arguments), old.status, new.status)
        self.differences.texts(old.stderr, new.stderr)
        return old, new

    def world(self, count: int) -> int:
        """How many requests were sent."""
        is_strapi = self.generate.chance(0.5)
        is_failing = is_strapi and self.generate.chance(0.15)
        mode = self.generate.random.choice(peers.MODES[1:]) if is_failing else "healthy"
        world = self.generate.world(is_strapi)
        count = min(count, REQUESTS_OF_A_FAILING_WORLD if is_failing else REQUESTS_OF_A_WORLD)
        with contextlib.ExitStack() as stack:
            # One for each build: what one asks must not change what the other gets.
            addresses = []
            for build in (self.old, self.new):
                settings = world.settings.replace("{front_end}", self.front_end.address)
                if is_strapi:
                    cms = peers.strapi(world.content, ENDPOINTS, mode)
                    stack.callback(cms.stop)
                    settings = settings.replace("{cms}", cms.address)
                build.write(settings, world.content_text())
                addresses.append(stack.enter_context(build.serving()))
            self.differences.equal("starts", world.settings, bool(addresses[0]), bool(addresses[1]))
            if not all(addresses):
                self.results("commands", "check")
                return 0
            connections = [Connection(address) for address in addresses]
            if not is_failing:
                wait_for_indexes(world, connections)
            self.requests(world, connections, count)
            for connection in connections:
                connection.close()
            if not is_failing:
                self.commands(world)
        logs = [decode((build.folder / "log").read_bytes()) for build in (self.old, self.new)]
        self.differences.texts(*logs)
        return count

    def requests(self, world: World, connections: list[Connection], count: int) -> None:
        tags: list[str] = []
        for request in self.generate.requests(world, count):
            if tags and self.generate.chance(0.1):
                tag = self.generate.random.choice(tags)
                raw = request.raw.replace(b"\r\n\r\n", f"\r\nIf-None-Match: {tag}\r\n\r\n".encode())
                request = Request(raw, request.is_last)
            old, new = self.responses(request, connections)
            self.differences.responses("requests", request, old, new)
            tag_found = old.header("etag")
            if tag_found and len(tags) < 50:
                tags.append(tag_found)

    def responses(self, request: Request, connections: list[Connection]) -> list[Response]:
        """Asks again where one process may have read a list a moment earlier than the other."""
        asked: list[list[Response]] = []

        def are_equal() -> bool:
            asked.append([connection.send(request) for connection in connections])
            old, new = comparable(request, *asked[-1])
            return old == new

        are_equal_now = until(are_equal, AGAIN_SECONDS) is not None
        self.differences.moments += are_equal_now and len(asked) > 1
        return asked[-1]

    def commands(self, world: World) -> None:
        for strict in ((), ("--strict",)):
            old, new = self.results("commands", "check", *strict)
            self.differences.texts(old.stdout, new.stdout)
        for site in world.sites:
            of_site = f"--site={site.key}"
            for _ in range(2):
                pathname = self.generate.pathname(site, world).replace("\0", "")
                pathname = pathname.encode("utf-8", "replace").decode()
                self.explain(of_site, "--", pathname)
            uid, _ = self.generate.random.choice(site.rules)
            document = f"d{self.generate.random.randrange(10):03}"
            self.explain(of_site, f"--uid={uid}", f"--document={document}")
            self.results("commands", "sitemap", f"--site={site.key}", "--out", "out", "--gzip")
            files = [build.files("out") for build in (self.old, self.new)]
            files = [{k: v for k, v in found.items() if not k.endswith(".gz")} for found in files]
            self.differences.equal("outputs", f"files of {site.key}", *files)
        self.validate(world)

    def explain(self, *arguments: str) -> None:
        """For programs, and for people."""
        old, new = self.results("commands", "explain", "--json", *arguments)
        self.differences.equal("outputs", " ".join(arguments), old.stdout, new.stdout)
        old, new = self.results("commands", "explain", *arguments)
        self.differences.texts(old.stdout, new.stdout)

    def validate(self, world: World) -> None:
        """One site, one format: each URL is a request to the front end."""
        site = world.sites[0]
        name = self.generate.random.choice(["json", "ndjson", "csv", "junit", "html"])
        arguments = ("validate", f"--site={site.key}", "--format", name)
        old, new = self.results("commands", *arguments)
        if name == "html":
            self.differences.texts(old.stdout, new.stdout)
        else:
            outputs = [without_run(result.stdout) for result in (old, new)]
            self.differences.equal("outputs", " ".join(arguments), *outputs)

    def settings(self) -> None:
        """Settings that may be wrong."""
        world = self.generate.world(is_strapi=False)
        text = world.settings.replace("{front_end}", self.front_end.address)
        self.write(self.generate.mutated_settings(text), world.content_text())
        old, new = self.results("settings", "check")
        self.differences.texts(old.stdout, new.stdout)
        statuses = self.old.serve(), self.new.serve()
        self.differences.equal("settings", f"serve {self.old.folder}", *statuses)


def wait_for_indexes(world: World, connections: list[Connection]) -> None:
    """Until the sites whose documents decide have their index: before, answers depend on time."""
    for site in world.sites:
        target = f"/api/get-content-type?site={site.key}&pathname=/"
        request = Request(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        for connection in connections:
            until(lambda: "missing" not in str(connection.send(request).headers), 10)  # noqa: B023


def without_run(report: str) -> str:
    """Without durations and times, which `validate` reports as numbers."""
    report = re.sub(r'(?i)("[a-z]*(?:seconds|millis|ms|time|at)":)[\d.]+', r"\1N", report)
    return re.sub(r'(time|timestamp)="[^"]*"', r'\1="N"', report)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=pathlib.Path, help="a binary")
    parser.add_argument("new", type=pathlib.Path, help="another one, or the same")
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--all-settings",
        action="store_true",
        help="also hosts, slashes, segments, pages outside the CMS and own paths of documents, "
        "which older builds refuse",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        old = Build(options.old.resolve(), folder / "build-0")
        new = Build(options.new.resolve(), folder / "build-1")
        generator = SiteGenerator if options.all_settings else Generator
        comparison = Comparison(old, new, generator(options.seed))
        begun, done, shown = time.monotonic(), 0, 0
        while done < options.requests:
            done += comparison.world(options.requests - done)
            if done - shown >= 5000:
                shown = done
                seconds = time.monotonic() - begun
                print(f"{done:,} requests after {seconds:.0f} s", flush=True)
        for _ in range(max(1, int(options.requests * SETTINGS_RATIO))):
            comparison.settings()
    print(comparison.differences.report())
    sys.exit(comparison.differences.count + comparison.differences.moments > 0)


if __name__ == "__main__":
    main()
