#!/usr/bin/env python3
"""Lost events on a real Strapi: seconds until the service shows what no webhook announced.

A Strapi (`tests/strapi`, SQLite), in front of it the service with webhooks, both behind a network
that can be cut. Each fault is repeated:

- `freeze`: an article is renamed, and Strapi is stopped (SIGSTOP) at once, for 20 s;
- `kill`: an article is renamed, and Strapi is killed (SIGKILL) at once, and started again;
- `cut`: an article is renamed while neither webhooks nor requests pass, for 20 s;
- `import`: 2,000 articles with an old `publishedAt` are written into the database by SQL;
- `restore`: articles are renamed, then Strapi is stopped, gets its former database, and is started.

Prints for each fault the seconds from its end until the list, the sitemap file, `/api/resolve` and
`/api/frontend-url` show the content; then the requests to the CMS while nobody edits. Ends with
status 1 if a change was never shown, or if the final lists differ from those of a bare walk.

During all faults one client requests the URL of a document once a second, as editors do. The
document of the fault itself is requested only after the other operations have shown it.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator

from bench_edits import HOOK_SECRET, Edited, differences
from common.client import get, until
from edits.content import ARTICLE, Strapi, articles
from edits.plan import Edit, Listed, Plan
from edits.probes import OPERATIONS, Lists, Probes
from fleet.chaos.proxy import Faults, Loop, Proxy
from strapi import fixture

# Seconds that Strapi is frozen or cut off.
FREEZE = 20
IMPORTED = 2_000
# Renames that a restored database undoes.
UNDONE = 20
# Seconds after a fault in which the service comes to rest, before the next one.
REST = 5


@dataclasses.dataclass
class World:
    """What the faults need."""

    fixture: fixture.Strapi
    strapi: Strapi
    plan: Plan
    cms: Proxy
    hooks: Proxy

    @property
    def pid(self) -> int:
        port = urllib.parse.urlsplit(self.fixture.url).port
        return int((self.fixture.database.parent / f"strapi-{port}.pid").read_text())

    def rename(self, turn: int) -> Edit:
        edit = self.plan.rename(turn)
        for call in edit.calls:
            self.strapi.act(call)
        return edit


def freeze(world: World, turn: int, _: Probes) -> list[Edit]:
    edit = world.rename(turn)
    os.kill(world.pid, signal.SIGSTOP)
    time.sleep(FREEZE)
    os.kill(world.pid, signal.SIGCONT)
    return [edit]


def kill(world: World, turn: int, _: Probes) -> list[Edit]:
    edit, pid = world.rename(turn), world.pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: not pathlib.Path(f"/proc/{pid}").exists())
    world.fixture.start()
    return [edit]


def cut(world: World, turn: int, _: Probes) -> list[Edit]:
    for proxy in (world.cms, world.hooks):
        proxy.become(Faults(refuse=True), cut=True)
    edit = world.rename(turn)
    time.sleep(FREEZE)
    for proxy in (world.cms, world.hooks):
        proxy.become(Faults())
    return [edit]


def import_rows(world: World, turn: int, _: Probes) -> list[Edit]:
    """Copies of the two rows of one article, with other ids and slugs."""
    one = next(world.plan.published)
    with contextlib.closing(sqlite3.connect(world.fixture.database, timeout=60)) as database:
        names = [name for _, name, *_ in database.execute("PRAGMA table_info(articles)")]
        own = "document_id = ? AND locale = 'en'"
        rows = database.execute(f"SELECT * FROM articles WHERE {own}", (one.id,)).fetchall()
        last = database.execute("SELECT max(id) FROM articles").fetchone()[0]
        with database:
            for n in range(IMPORTED):
                for row in rows:
                    last += 1
                    copy = dict(zip(names, row, strict=True)) | {
                        "id": last,
                        "document_id": f"dimported{turn}x{n}".ljust(24, "x"),
                        "slug": f"imported-{turn}-{n}",
                    }
                    marks = ",".join("?" * len(names))
                    database.execute(f"INSERT INTO articles VALUES ({marks})", list(copy.values()))
                    database.execute(
                        "INSERT INTO articles_category_lnk (article_id, category_id, article_ord)"
                        " SELECT ?, category_id, article_ord FROM articles_category_lnk"
                        " WHERE article_id = ?",
                        (last, row[names.index("id")]),
                    )
    start, document = one.path(f"imported-{turn}-"), f"dimported{turn}x0".ljust(24, "x")
    first = f"{start}0"
    listed = [Listed(ARTICLE, start, IMPORTED, is_whole=False)]
    return [Edit("import", [], listed, {first: document}, ARTICLE, document, first)]


def restore(world: World, turn: int, probes: Probes) -> list[Edit]:
    database = world.fixture.database
    dump = database.with_suffix(".dump")
    with contextlib.closing(sqlite3.connect(database)) as source:
        source.execute("VACUUM INTO ?", (str(dump),))
    edits = [world.rename(turn) for _ in range(UNDONE)]
    for edit in edits:
        probes.list_and_file(dataclasses.replace(edit, kind="undone"), time.monotonic())
    world.fixture.stop()
    for file in database.parent.glob(f"{database.name}-*"):
        file.unlink()
    shutil.move(dump, database)
    world.fixture.start()
    return [undone(edit) for edit in edits]


def undone(edit: Edit) -> Edit:
    """What must be seen once a rename never was."""
    old, new = (one.path for one in edit.listed)
    listed = [Listed(ARTICLE, old, 1), Listed(ARTICLE, new, 0)]
    return dataclasses.replace(edit, listed=listed, owners={old: edit.document}, path=old)


FAULTS: dict[str, Callable[[World, int, Probes], list[Edit]]] = {
    "freeze": freeze,
    "kill": kill,
    "cut": cut,
    "import": import_rows,
    "restore": restore,
}


@contextlib.contextmanager
def editor(service: Edited, document: str) -> Iterator[None]:
    """A client that requests the URL of one document once a second."""
    ended = threading.Event()
    target = f"/api/frontend-url?uid={ARTICLE}&documentId={document}"

    def request() -> None:
        while not ended.wait(1):
            with contextlib.suppress(OSError):
                get(service.address, target, 30)

    thread = threading.Thread(target=request)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def follow(name: str, edits: list[Edit], probes: Probes) -> None:
    """Waits until each operation shows these edits; the single read last."""
    begun = time.monotonic()
    edits = [dataclasses.replace(edit, kind=name) for edit in edits]
    for probe in (probes.list_and_file, probes.resolve, probes.frontend_url):
        for edit in edits:
            probe(edit, begun)


def shown(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.1f}"


def report(probes: Probes, names: list[str]) -> int:
    """Prints the table; how many changes were never shown."""
    print("seconds from the end of the fault until shown (median / max, trials)")
    print(f"{'':10}" + "".join(f"{name:>24}" for name in OPERATIONS))
    never = 0
    for name in names:
        cells = []
        for operation in OPERATIONS:
            found = probes.seconds[name, operation]
            seen = [taken for taken in found if taken is not None]
            never += len(found) - len(seen)
            figures = f"{statistics.median(seen):.1f} / {max(seen):.1f}" if seen else "never"
            cells.append(f"{figures} ({len(found)})")
        print(f"{name:10}" + "".join(f"{cell:>24}" for cell in cells))
    return never


def report_idle(service: Edited, minutes: float) -> None:
    before = service.wait_until_idle(60)
    time.sleep(minutes * 60)
    sent = service.cms_requests() - before
    print(
        f"{sent} requests to the CMS in {minutes:g} idle minutes: {sent * 60 / minutes:.0f} an hour"
    )


def run(options: argparse.Namespace, world: World, folder: pathlib.Path) -> bool:
    with Edited(options.binary, folder, f"http://{world.cms.address}") as service:
        world.hooks.redis_port = int(service.address.rpartition(":")[2])
        with Lists(service.address) as lists:
            until(lambda: all(lists.bodies.values()), 900, 0.1)
            service.wait_until_idle(600)
            hook = {"Authorization": f"Bearer {HOOK_SECRET}"}
            target = f"http://{world.hooks.address}/hooks/cms"
            world.strapi.post(
                "/api/lab/webhook", {"url": target, "name": "healing", "headers": hook}
            )
            probes = Probes(service.address, lists, world.strapi)
            # One event at least, so that webhooks are in use.
            follow("announced", [world.rename(0)], probes)
            with editor(service, next(world.plan.published).id):
                for turn in range(1, options.times + 1):
                    for name in options.faults:
                        follow(name, FAULTS[name](world, turn, probes), probes)
                        time.sleep(REST)
                        row = [shown(probes.seconds[name, one][-1]) for one in OPERATIONS[1:]]
                        print(f"{name} {turn}: {' '.join(row)}", flush=True)
            never = report(probes, ["announced", *options.faults])
            if options.idle:
                report_idle(service, options.idle)
            different = differences(lists, world.strapi)
    print(f"{never} never shown, {different} URLs differ")
    return not never and not different


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=5, help="how often each fault is made")
    parser.add_argument("--idle", type=float, default=5, help="idle minutes to count requests in")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("binary", type=pathlib.Path)
    options = parser.parse_args()
    options.binary = options.binary.resolve()
    with (
        fixture.running(options.articles, bulk=True) as strapi,
        tempfile.TemporaryDirectory() as folder,
    ):
        client, loop = Strapi(strapi.url), Loop()
        cms = Proxy(loop, urllib.parse.urlsplit(strapi.url).port or 0, 1)
        world = World(
            strapi,
            client,
            Plan(client, list(articles(options.articles))),
            cms,
            # The port of the service is known once it has started.
            hooks=Proxy(loop, 0, 2),
        )
        good = run(options, world, pathlib.Path(folder))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
