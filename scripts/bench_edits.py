#!/usr/bin/env python3
"""Edits in a real Strapi: seconds until the service shows them, and what they cost the CMS.

A Strapi (`tests/strapi`, SQLite) with 50,000 articles, in front of it the service with webhooks,
and 200 edits in three minutes: articles are renamed, published, created, unpublished and deleted,
categories with thousands of articles get another slug, are unpublished, published and deleted, and
pages with a tree below them are renamed. Prints

- for each kind of edit and operation, the seconds from Strapi's response to the edit until the
  operation shows it;
- for each kind of edit, the seconds from then until Strapi itself responds to a request;
- the duration of the edits themselves: without the service, with it, and with it and the requests
  of this program;
- the requests to the CMS for each kind of edit, made alone;
- whether the final lists equal those that a bare keyset walk over Strapi finds.

Ends with status 1 if an edit was never seen or the lists differ.
"""

import argparse
import contextlib
import pathlib
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator

from common.build import BINARY, build
from common.client import until
from common.service import Service
from edits.content import BASE, Strapi, articles, urls
from edits.limit import ENDED, end_after
from edits.plan import COUNTS, KINDS, Durations, Edit, Plan
from edits.probes import Lists, Probes
from edits.report import report_durations, report_seen
from strapi import fixture

HOOK_SECRET = "secret-of-the-bench"
# The words in angle brackets are replaced.
SETTINGS = """
[cms]
url = "<cms>"
[snapshots]
soft_seconds = 3600
hard_seconds = 86400
[limits]
walk_deadline_ms = 900000
[[site]]
key = "main"
front_end_url = "<base>"
locales = ["en", "de", "fr"]
resolve = "documents"
[[site.rule]]
content_type = "api::article.article"
template = "/{locale}/a/{category.slug}/{slug}"
[[site.rule]]
content_type = "api::category.category"
template = "/{locale}/c/{slug}"
[[site.rule]]
content_type = "api::page.page"
template = "/{locale}/p/{*path}"
params.path = { field = "slug", ancestors = "parent" }
"""
# Seconds without a request to the CMS after which the service counts as idle.
QUIET = 3
# How many edits of each kind are made alone.
ALONE = dict.fromkeys(KINDS, 1)


class Edited(Service):
    """The binary with its webhook."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path, cms: str) -> None:
        file = folder / "settings.toml"
        words = {"<cms>": cms, "<base>": BASE}
        file.write_text(re.sub("<[a-z]+>", lambda word: words[word[0]], SETTINGS))
        secrets = {"CMS__TOKEN": fixture.READ_TOKEN, "HOOKS__SECRET": HOOK_SECRET}
        super().__init__(file, secrets, binary=binary)

    def cms_requests(self) -> int:
        return int(self.metric("frontend_map_cms_request_seconds_count"))

    def wait_until_idle(self, patience: float) -> int:
        """Waits until no request is sent; the number of requests so far."""
        last, since = self.cms_requests(), time.monotonic()
        begun = since
        while time.monotonic() - since < QUIET and time.monotonic() - begun < patience:
            if ENDED.wait(0.2):
                break
            if (now := self.cms_requests()) != last:
                last, since = now, time.monotonic()
        return last


def edit(strapi: Strapi, edit: Edit, probes: Probes | None, durations: Durations) -> None:
    begun = time.monotonic()
    for call in edit.calls:
        strapi.act(call)
    if probes:
        probes.follow(edit)
    durations[edit.kind].append(time.monotonic() - begun)


def edit_all(
    strapi: Strapi, work: list[list[Edit]], seconds: float, probes: Probes | None
) -> Durations:
    """Editors that work at the same time; each spreads its edits over the time."""
    durations: Durations = defaultdict(list)
    begun = time.monotonic()

    def editor(edits: list[Edit]) -> None:
        for n, one in enumerate(edits):
            if ENDED.wait(max(0, begun + n * seconds / len(edits) - time.monotonic())):
                return
            edit(strapi, one, probes, durations)

    threads = [threading.Thread(target=editor, args=(edits,)) for edits in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{sum(map(len, work))} edits in {time.monotonic() - begun:.0f} s", flush=True)
    return durations


def report_requests(
    strapi: Strapi, service: Edited, edits: Iterable[Edit], patience: float
) -> None:
    print("requests to the CMS for an edit made alone")
    for one in edits:
        if ENDED.is_set():
            return
        before = service.wait_until_idle(patience)
        edit(strapi, one, None, defaultdict(list))
        time.sleep(QUIET)
        print(f"{one.kind:18} {service.wait_until_idle(patience) - before}", flush=True)


def differences(lists: Lists, strapi: Strapi) -> int:
    """URLs that are listed or expected, and not both."""
    count = 0
    for uid, expected in urls(strapi).items():
        found = set(re.findall(rf'"({re.escape(BASE)}/[^"]*)"', lists.bodies[uid].decode()))
        missing, extra = sorted(expected - found), sorted(found - expected)
        print(f"{uid}: {len(found)} URLs, missing {missing[:3]}, extra {extra[:3]}", flush=True)
        count += len(missing) + len(extra)
    return count


@contextlib.contextmanager
def seeded(count: int, cache: pathlib.Path | None) -> Iterator[str]:
    """A Strapi with this number of articles; `cache` keeps its database for the next run."""
    strapi = fixture.Strapi(count, bulk=True, variables={})
    database = strapi.database
    strapi.run("install")
    if cache and cache.exists():
        shutil.copy(cache, database)
    try:
        strapi.start()
        if cache and not cache.exists():
            strapi.stop()
            shutil.copy(database, cache)
            strapi.start()
        yield strapi.url
    finally:
        strapi.run("reset")


def run(strapi: Strapi, options: argparse.Namespace, folder: pathlib.Path) -> bool:
    """Whether each edit was seen and the final lists are right."""
    counts = {kind: max(1, count // options.part) for kind, count in COUNTS.items()}
    seconds = options.seconds / options.part
    plan = Plan(strapi, list(articles(options.articles)))

    part = options.control_part
    few = {kind: max(1, count // part) for kind, count in counts.items()}

    def work(counts: dict[str, int], may_delete: bool) -> list[list[Edit]]:
        return [plan.articles(counts), plan.slow(counts, may_delete)]

    turns = [edit_all(strapi, work(few, False), seconds / part, None)] if options.control else []
    with Edited(options.binary, folder, strapi.url) as service, Lists(service.address) as lists:
        built = until(lambda: ENDED.is_set() or all(lists.bodies.values()), 900, 0.1)
        walked = service.wait_until_idle(600)
        print(f"the first lists after {built or 0:.0f} s, {walked} requests", flush=True)
        hook = {"Authorization": f"Bearer {HOOK_SECRET}"}
        target = f"http://{service.address}/hooks/cms"
        strapi.post("/api/lab/webhook", {"url": target, "name": "bench", "headers": hook})
        if options.control:
            lists.paused.set()
            turns.append(edit_all(strapi, work(few, False), seconds / part, None))
            service.wait_until_idle(600)
            lists.paused.clear()
        probes = Probes(service.address, lists, strapi)
        edits, before = work(counts, True), service.cms_requests()
        with_probes = edit_all(strapi, edits, seconds, probes)
        probes.wait()
        requests = service.wait_until_idle(600) - before - probes.frontend_url_requests
        never = report_seen(probes.seconds)
        print(f"{requests} requests to the CMS for these edits", flush=True)
        if ENDED.is_set():
            print(f"the run has ended early: {probes.unfinished} times before an edit was seen")
        if turns:
            report_durations([*turns, with_probes])
        different = differences(lists, strapi)
        if options.alone and not ENDED.is_set():
            alone = [*plan.articles(ALONE), *plan.slow(ALONE, may_delete=True)]
            report_requests(strapi, service, alone, patience=options.alone)
            different += differences(lists, strapi)
    print(f"{never} never seen, {different} URLs differ")
    return not never and not different


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=180, help="in which the edits are made")
    parser.add_argument(
        "--limit", type=int, default=0, help="seconds after which the run ends and reports; 0: none"
    )
    parser.add_argument("--part", type=int, default=1, help="divide edits and seconds by this")
    parser.add_argument(
        "--alone", type=float, default=120, help="seconds to wait until idle at most; 0: skip"
    )
    parser.add_argument(
        "--control-part", type=int, default=1, help="divide the turns without probes by this"
    )
    parser.add_argument("--no-control", dest="control", action="store_false")
    parser.add_argument("--cache", type=pathlib.Path, help="a file that keeps the seeded database")
    parser.add_argument(
        "binary", nargs="?", type=pathlib.Path, help="default: the build that is shipped"
    )
    options = parser.parse_args()
    if options.binary is None:
        build()
    options.binary = (options.binary or BINARY).resolve()
    end_after(options.limit)
    with (
        seeded(options.articles, options.cache) as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        good = run(Strapi(url), options, pathlib.Path(folder))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
