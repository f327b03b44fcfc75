"""Extrapolates the counts of small fleets to larger ones, and computes what limits them."""

from typing import TYPE_CHECKING

from faults.report import Report

if TYPE_CHECKING:
    from fleet.counts import Counted

SIZES = (10, 100, 1000)
# Bytes per second of a network of 1 Gbit/s.
NETWORK = 125_000_000
COSTS = ("commands", "bytes in", "bytes out", "CPU ms")


def line(points: list[tuple[float, float]]) -> tuple[float, float]:
    """a and b of a + b·n by least squares; with one point it goes through zero. Work that does not
    grow is constant."""
    if len(points) == 1:
        n, value = points[0]
        return 0.0, value / n
    count = len(points)
    mean_n, mean = sum(n for n, _ in points) / count, sum(v for _, v in points) / count
    spread = sum((n - mean_n) ** 2 for n, _ in points)
    b = sum((n - mean_n) * (v - mean) for n, v in points) / spread
    return (mean - b * mean_n, b) if b > 0 else (mean, 0.0)


def show(report: Report, found: "list[Counted]") -> None:
    """The counts as a table, then the extrapolation."""
    rows: dict[str, list[tuple[float, float]]] = {}
    for one in found:
        assert one.idle is not None
        idle = (one.idle.commands, one.idle.bytes_in, one.idle.bytes_out, one.idle.cpu * 1e3)
        per_second = dict(zip(COSTS, (each / one.idle_seconds for each in idle), strict=True))
        for what, costs in (
            ("idle second", per_second),
            ("walk", one.walk),
            ("edit", one.edit),
            ("URL check", one.check),
        ):
            for name, value in costs.items():
                rows.setdefault(f"{what}: {name}", []).append((one.instances, value))
    sizes = [one.instances for one in found]
    heads = [f"{size} measured" for size in sizes] + [f"{size:,} on paper" for size in SIZES]
    report.figure("what Redis does, commands in scripts included (a + b·n by least squares)")
    report.figure(f"{'':24}" + "".join(f"{head:>16}" for head in heads))
    lines = {}
    for name, points in rows.items():
        a, b = lines[name] = line(points)
        values = [value for _, value in points] + [max(0.0, a + b * size) for size in SIZES]
        report.figure(f"{name:24}" + "".join(f"{value:16,.2f}" for value in values))
    limits(report, lines)


def limits(report: Report, lines: dict[str, tuple[float, float]]) -> None:
    """Shares of one core, since Redis runs commands on one, and of a network of 1 Gbit/s."""

    def at(name: str, size: int) -> float:
        a, b = lines.get(name, (0.0, 0.0))
        return max(0.0, a + b * size)

    for size in SIZES:
        idle, edit = at("idle second: CPU ms", size) / 1e3, at("edit: CPU ms", size) / 1e3
        out, walk = at("edit: bytes out", size), at("walk: bytes out", size)
        parts = [f"idle {idle:.1%} of Redis's core"]
        if edit:
            parts.append(f"edits/s by this core {max(0.0, 1 - idle) / edit:,.0f}")
        if out:
            parts.append(f"edits/s by the network {NETWORK / out:,.0f}")
        parts.append(f"a walk's snapshots take {walk / NETWORK:,.2f} s of the network")
        report.figure(f"{size:,} instances: {'; '.join(parts)}")
