"""Documents that editors change, and every state that each of them has had: the oracle."""

import base64
import hashlib
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

# A version of a document in a locale: content type, number of the document, locale.
Version = tuple[str, int, str]
# How often a version has been renamed; None: it is not published. In the paths of a kind with a
# section, the renames of the section count `SECTION_STEP` each: a path has the slugs of both.
Revision = int | None
SECTION_STEP = 1_000_000
# The kinds whose documents all belong to the one section.
WITH_SECTION = {"story"}
LAST = float("inf")


@dataclass(frozen=True)
class Kind:
    """A content type: its name, and the locales in which it is published at the start."""

    name: str
    locales: tuple[str, ...]

    @property
    def uid(self) -> str:
        return f"api::{self.name}.{self.name}"


def document_id(number: int) -> str:
    """24 letters and digits that sort by number. They have 13 random bytes: a sorted list of a
    million of Strapi's ids cannot be compressed below 13 bytes each."""
    digest = hashlib.blake2b(number.to_bytes(4), digest_size=14).digest()
    return f"{number:06x}{base64.b64encode(digest, b'xy')[:18].decode()}"


def number_of(document: str) -> int:
    """ValueError if there is no such id."""
    number = int(document[:6], 16)
    if document_id(number) != document:
        raise ValueError(f"{document} is no id")
    return number


CONSONANTS, VOWELS = "bdfgklmnprstvwxz", "aeio"
# Of two syllables.
WORDS = [f"{a}{b}{c}{d}n" for a in CONSONANTS for b in VOWELS for c in CONSONANTS for d in VOWELS]


def slug(version: Version, revision: int) -> str:
    """Never that of another version. Its words are random, so that lists compress as usual ones."""
    name, number, locale = version
    # The finalizer of MurmurHash3, with 64 bits.
    mixed = (number + 1) * 0xFF51AFD7ED558CCD & 0xFFFFFFFFFFFFFFFF
    mixed = (mixed ^ mixed >> 33) * 0xC4CEB9FE1A85EC53 & 0xFFFFFFFFFFFFFFFF
    first, second, third = (WORDS[mixed >> bits & 4095] for bits in (20, 32, 44))
    return f"{name}-{locale}-{first}-{second}-{third}-{number}-r{revision}"


def section_slug(revision: int) -> str:
    return f"section-r{revision // SECTION_STEP}"


def path_end(version: Version, revision: int) -> str:
    own = slug(version, revision % SECTION_STEP)
    return f"{section_slug(revision)}/{own}" if version[0] in WITH_SECTION else own


SLUG = re.compile(r"(?:section-r(\d+)/)?(\w+)-(\w+)-(?:[a-z]+-){3}(\d+)-r(\d+)$")


def parsed(text: str) -> tuple[Version, int] | None:
    """The version and revision of a slug, or of a path that ends with one."""
    found = SLUG.search(text)
    if found is None:
        return None
    section = int(found[1] or 0) * SECTION_STEP
    return (found[2], int(found[4]), found[3]), section + int(found[5])


class Content:
    """This number of documents of each kind, all published in all locales with revision 0. Only
    versions that have been edited take memory. Safe for several threads."""

    def __init__(self, kinds: tuple[Kind, ...], documents: int) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self.lock = threading.Lock()
        self.begun = time.monotonic()
        # How many documents there are of each kind, created ones included.
        self.total = {kind.name: documents for kind in kinds}
        # How often the section has been renamed, times `SECTION_STEP`.
        self.section = 0
        # Since when each edited version has had which revision.
        self.states: dict[Version, list[tuple[float, Revision]]] = {}
        self.hidden: dict[tuple[str, str], set[int]] = {
            (kind.name, locale): set() for kind in kinds for locale in kind.locales
        }

    def edit(self, version: Version, revision: Revision) -> float:
        """The time of the edit."""
        name, number, locale = version
        with self.lock:
            hidden, now = self.hidden[name, locale], time.monotonic()
            states = self.states.setdefault(version, [(self.begun, 0)])
            states.append((now, revision))
            (hidden.add if revision is None else hidden.discard)(number)
            return now

    def create(self, name: str) -> int:
        """A document without a published version."""
        with self.lock:
            number = self.total[name]
            self.total[name] = number + 1
            for locale in self.kinds[name].locales:
                self.hidden[name, locale].add(number)
                self.states[name, number, locale] = [(self.begun, None)]
            return number

    def now(self, version: Version) -> Revision:
        states = self.states.get(version)
        return states[-1][1] if states else 0

    def next_revision(self, version: Version) -> int:
        """One that the version has not had."""
        states = self.states.get(version, [(self.begun, 0)])
        own = (one % SECTION_STEP for _, one in states if one is not None)
        return max(own, default=-1) + 1 + (self.section if version[0] in WITH_SECTION else 0)

    def rename_section(self) -> None:
        """At once in the paths of all of its documents."""
        with self.lock:
            self.section += SECTION_STEP
            now = time.monotonic()
            for name in WITH_SECTION & self.kinds.keys():
                for locale in self.kinds[name].locales:
                    for number in range(self.total[name]):
                        version = (name, number, locale)
                        states = self.states.setdefault(version, [(self.begun, 0)])
                        if (last := states[-1][1]) is not None:
                            states.append((now, last % SECTION_STEP + self.section))

    def during(self, version: Version, since: float, until: float) -> set[Revision]:
        """All revisions that the version had in the time."""
        with self.lock:
            states = self.states.get(version)
            if states is None:
                return {0}
            ends = [when for when, _ in states[1:]] + [LAST]
            found: set[Revision] = set()
            for (when, revision), end in zip(states, ends, strict=True):
                if when <= until and end >= since:
                    found.add(revision)
            return found

    def ever(self, version: Version) -> set[Revision]:
        return self.during(version, 0, LAST)

    def exists(self, version: Version) -> bool:
        name, number, locale = version
        kind = self.kinds.get(name)
        return kind is not None and locale in kind.locales and number < self.total[name]

    def versions(self, name: str) -> Iterator[Version]:
        for locale in self.kinds[name].locales:
            for number in range(self.total[name]):
                yield name, number, locale

    def page(
        self, name: str, locale: str, after: int, size: int, only: set[int] | None
    ) -> tuple[list[tuple[int, int]], int]:
        """Numbers and revisions of published documents behind `after`, and how many there are."""
        with self.lock:
            hidden, end = self.hidden[name, locale], self.total[name]
            numbers = range(after + 1, end) if only is None else sorted(only)
            total = self.count(numbers, hidden, after, end)
            rows: list[tuple[int, int]] = []
            for number in numbers:
                if len(rows) == size:
                    break
                if after < number < end and number not in hidden:
                    revision = self.now((name, number, locale))
                    rows.append((number, revision or 0))
            return rows, total

    @staticmethod
    def count(numbers: range | list[int], hidden: set[int], after: int, end: int) -> int:
        if isinstance(numbers, range):
            return len(numbers) - sum(number > after for number in hidden)
        return sum(after < number < end and number not in hidden for number in numbers)
