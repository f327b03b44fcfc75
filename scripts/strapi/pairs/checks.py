"""Pairs of a draft and a world: what a preview announces before a click in Strapi's admin panel is
compared with what visitors get afterwards."""

import collections
import random
import time
from typing import Any

from strapi.admins import Admin
from strapi.checks import Checks
from strapi.live import Live
from strapi.pairs.content import RELATIONS, TARGETS, Version, World
from strapi.pairs.scenarios import SCENARIOS
from strapi.pairs.visitors import Found, Visits, preview, wait, wait_until_read

# Of a long run, each kind of finding has this number at least.
EACH_KIND, LONG_RUN = 20, 300


class Pair:
    """One click, before and after."""

    def __init__(
        self, world: World, version: Version, action: str, counts: collections.Counter[str]
    ):
        self.world, self.version, self.action, self.counts = world, version, action, counts
        self.wrong: list[str] = []
        self.service = world.live.service

    def equal(self, name: str, found: object, expected: object) -> None:
        if found != expected:
            self.wrong.append(f"{name}: {found!r}, happened: {expected!r}")

    def run(self) -> None:
        paths = self.world.paths()
        wait(self.service, self.world, paths)
        self.before = Visits(self.service, paths)
        drafted = self.world.related(self.version, "draft")
        site = preview(self.service, self.version)
        self.effect: dict[str, Any] = site[self.action]
        self.equal("path now", site["path"], self.before.visible(self.version))
        readers = self.readers()
        self.world.click(self.version, self.action)
        paths = self.world.paths()
        wait(self.service, self.world, paths)
        self.after = Visits(self.service, paths)
        # Publishing makes published versions read the document, or not any more, as drafts do.
        self.is_linked_anew = self.action == "publish" and self.readers() != readers
        self.check_pages()
        self.check_redirect()
        if self.action == "publish":
            self.check_path()
            self.check_related(drafted)
        self.check_ok()
        self.counts[self.action] += 1

    def readers(self) -> set[Version]:
        """The other published versions that read the document."""
        uid, document, locale = self.version
        others = (own for own in self.world.versions if own.document != document)
        related = (own for own in others if TARGETS.get(own.uid) == uid and own.locale == locale)
        return {own for own in related if self.world.related(own, "published") == document}

    def is_own(self, version: Version) -> bool:
        is_document = version[:2] == self.version[:2]
        return is_document and (self.action == "delete" or version == self.version)

    def force(self, found: Found) -> bool:
        return self.world.redirects.get(found.entry or "", ("", False))[1]

    def later(self, version: Version) -> str | None:
        """The path of the page of a version, which a redirect may hide there."""
        path = self.after.path(version)
        if not path:
            return None
        found = self.after.at(path)
        return path if found.is_page(version) or self.force(found) else None

    def check_pages(self) -> None:
        """The pages that have moved, and those that are gone."""
        own, others, gone = None, [], []
        for version in self.world.versions:
            if not (path := self.before.visible(version)):
                continue
            later = self.later(version)
            if later and later != path:
                found = self.after.at(path)
                moves = (path, later, found.target == later, found.entry)
                if self.is_own(version):
                    own = moves
                else:
                    others.append((path, version.document, moves, version))
                self.counts["moves, redirects" if moves[2] else "moves, does not redirect"] += 1
                self.counts["moves, redirect of the CMS"] += found.entry is not None
            elif not later and not self.after.at(path).is_any():
                gone.append((path, version.document, version))
            elif not later:
                found = self.after.at(path)
                self.counts["left to a redirect of the CMS"] += found.entry is not None
                self.counts["left to another page"] += found.entry is None
        announced = self.effect["moves"]
        self.equal("moves", announced and moves_in(announced), own)
        dependents, lost = self.effect["dependents"], self.effect["gone"]
        self.equal("more", (dependents["more"], lost["more"]), (self.is_linked_anew,) * 2)
        self.counts["more"] += self.is_linked_anew
        if self.is_linked_anew:
            return
        self.equal("dependents", dependents["count"], len(others))
        rows = [(moves, version) for *_, moves, version in sorted(others)[:10]]
        self.equal(
            "first dependents",
            [(moves_in(row), version_in(row)) for row in dependents["first"]],
            rows,
        )
        self.equal("gone", lost["count"], len(gone))
        self.equal(
            "first gone",
            [(row["path"], version_in(row)) for row in lost["first"]],
            [(path, version) for path, _, version in sorted(gone)[:10]],
        )
        self.counts["dependents"] += 0 < len(others) <= 10
        self.counts["dependents, more than ten"] += len(others) > 10
        self.counts["gone"] += 0 < len(gone) <= 10
        self.counts["gone, more than ten"] += len(gone) > 10

    def check_redirect(self) -> None:
        """The redirect of the CMS at the path that the version has or leaves."""
        path = self.after.path(self.version) or self.before.path(self.version)
        named = self.effect.get("redirect")
        document = named and named["document"]["documentId"]
        found = self.after.at(path) if path else Found()
        if found.entry:
            self.equal("redirect", document, found.entry)
            self.equal("force", named and named["force"], self.force(found))
            self.counts["redirect decides"] += 1
        elif named:
            known = self.world.redirects.get(str(document))
            self.equal("redirect without effect", known, (path, False))
            self.counts["redirect, a page wins"] += 1

    def check_path(self) -> None:
        path, conflict = self.after.path(self.version), self.effect["conflict"]
        self.equal("path", self.effect.get("path"), path)
        self.equal("no path", "noPath" in self.effect, path is None)
        self.counts["no path"] += path is None
        if path is None:
            return
        found = self.after.at(path)
        if self.force(found):
            self.counts["hidden by force"] += 1
            return
        wins = conflict["wins"] if conflict else "nothing else"
        is_own = found.is_page(self.version)
        document = conflict and conflict.get("document")
        other = document and (document["contentType"], document["documentId"])
        if wins == "other":
            self.equal("conflict, other", (is_own, other), (False, found.document and found[:2]))
        elif wins == "this":
            owner = self.before.at(path)
            self.equal("conflict, this", (is_own, other), (True, owner[:2]))
        elif wins == "unknown":
            self.equal("conflict, unknown", is_own or found[:2] == other, True)
        else:
            self.equal("no conflict", is_own, True)
        if conflict:
            within = "one type" if other and other[0] == self.version.uid else "several types"
            self.counts[f"conflict, {wins}"] += 1
            self.counts[f"conflict, {within}"] += 1

    def check_related(self, drafted: str | None) -> None:
        """The relation of a draft that the published version does not have."""
        published = self.world.related(self.version, "published")
        expected = []
        if drafted and not published:
            expected = [{"field": RELATIONS[self.version.uid], "documentId": drafted}]
        self.equal("unpublished", self.effect.get("unpublished", []), expected)
        self.equal("assumed", "assumed" in self.effect, False)
        self.counts["related draft"] += len(expected)

    def check_ok(self) -> None:
        effect = self.effect
        force = effect.get("redirect", {}).get("force", False)
        is_fine = not effect["gone"]["count"]
        if self.action == "publish":
            is_free = effect["conflict"] is None and not force and "noPath" not in effect
            is_fine = is_fine and is_free and "unpublished" not in effect
        self.equal("ok", effect["ok"], is_fine)
        self.counts["ok" if is_fine else "not ok"] += 1


def moves_in(row: dict[str, Any]) -> tuple[str, str, bool, str | None]:
    entry = row["redirect"]["document"]["documentId"] if "redirect" in row else None
    return row["from"], row["to"], row["redirects"], entry


def version_in(row: dict[str, Any]) -> Version:
    return Version(row["contentType"], row["documentId"], row["locale"])


def pair(
    live: Live, admin: Admin, seed: int, number: int, counts: collections.Counter[str]
) -> Pair:
    """Builds the world of a number, and compares one click."""
    chosen = random.Random(f"{seed}-{number}")
    world = World(live, admin, chosen, f"w{seed}x{number}")
    version, action = SCENARIOS[number % len(SCENARIOS)](world)
    one = Pair(world, version, action, counts)
    one.run()
    return one


def check_pairs(checks: Checks, live: Live, admin: Admin, seed: int, numbers: range) -> None:
    counts: collections.Counter[str] = collections.Counter()
    begun = time.monotonic()
    wait_until_read(live.service)
    for number in numbers:
        one = pair(live, admin, seed, number, counts)
        name = f"pair {number} of seed {seed}, {one.action} {one.version}"
        checks.check(f"{name}: as announced", not one.wrong, "\n  ".join(["", *one.wrong]))
    if len(numbers) >= LONG_RUN:
        few = {kind: count for kind, count in counts.items() if count < EACH_KIND}
        checks.equal("pairs: kinds with fewer than 20", few, {})
    print(f"pairs: {len(numbers)} of seed {seed}: {time.monotonic() - begun:.0f} s", flush=True)
    print("\n".join(f"  {kind}: {count}" for kind, count in sorted(counts.items())), flush=True)
