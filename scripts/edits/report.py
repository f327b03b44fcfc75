"""The tables of a run."""

import statistics

from edits.plan import KINDS, Durations
from edits.probes import BARE, OPERATIONS


def report_seen(seconds: dict[tuple[str, str], list[float | None]]) -> int:
    """Prints the table; the number of edits that an operation never showed."""
    print("seconds until seen (p50 / p99 / max)")
    columns = (*OPERATIONS, BARE)
    print(f"{'':22}" + "".join(f"{name:>26}" for name in columns))
    for kind in KINDS:
        cells = [cell(seconds[kind, column]) for column in columns]
        count = len(seconds[kind, OPERATIONS[0]])
        print(f"{kind:18} {count:3}" + "".join(f"{text:>26}" for text in cells))
    for column in columns:
        every = [taken for kind in KINDS for taken in seconds[kind, column]]
        print(f"all, {column}: {cell(every)}")
    return sum(taken is None for found in seconds.values() for taken in found)


def cell(found: list[float | None]) -> str:
    seen = sorted(taken for taken in found if taken is not None)
    if not seen:
        return "never" if found else "-"
    p99 = seen[max(0, -(-99 * len(seen) // 100) - 1)]
    never = f", {len(found) - len(seen)} never" if len(seen) < len(found) else ""
    return f"{statistics.median(seen):.2f} / {p99:.2f} / {seen[-1]:.2f}{never}"


def report_durations(turns: list[Durations]) -> None:
    print("duration of an edit, p50 in ms: without the service, with it, with probes; ratios")
    articles: list[list[float]] = [[] for _ in turns]
    for kind in KINDS:
        medians = [statistics.median(turn[kind]) * 1000 if turn[kind] else 0 for turn in turns]
        print_durations(kind, medians)
        if kind.startswith("article"):
            for own, turn in zip(articles, turns, strict=True):
                own.extend(turn[kind])
    print_durations("all of articles", [statistics.median(own) * 1000 for own in articles])


def print_durations(name: str, medians: list[float]) -> None:
    first = medians[0]
    ratios = [f"{other / first:.2f}" if first else "-" for other in medians[1:]]
    cells = [*(f"{median:9.0f}" for median in medians), *(f"{ratio:>7}" for ratio in ratios)]
    print(f"{name:18} {' '.join(cells)}")
