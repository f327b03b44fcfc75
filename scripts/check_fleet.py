#!/usr/bin/env python3
"""Instances of the service that share a Redis: what that costs, and what they survive.

Starts redis-server (Debian: redis-server), instances of BINARY and scripted peers, all on loopback,
and ends them, also on Ctrl-C. Modes:

counts   list requests to the CMS for the fleet beside one walk's; seconds from an edit, and from
         its publication, until all instances show it; requests to the CMS an edit; bytes in the
         engine a URL; commands and bytes of the engine for a walk, an edit and a URL check, with
         one, two and three instances, and on paper with 10, 100 and 1,000
checks   300 callers over three instances start URL checks: the frontend counts requests in flight
         and how often each URL is requested
chaos    instances and the engine are killed, stopped, cut off and flushed while editors work; an
         oracle judges responses of all instances
away     latency and requests per second without the engine beside those with it, in turn; a start
         without the engine, and its return

Durations are figures and decide nothing. What must hold is printed as `held` or `FAILED`; status 1
where something does not. A seed repeats what is random, but not the time of things.
"""

import argparse
import pathlib
import signal
import sys

from faults.report import Report


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", type=pathlib.Path)
    modes = parser.add_subparsers(dest="mode", required=True)
    counts = modes.add_parser("counts")
    counts.add_argument("--documents", type=int, default=10_000)
    counts.add_argument("--strapi", action="store_true", help="the real one, with 300 articles")
    counts.add_argument("--edits", type=int, default=200)
    counts.add_argument("--instances", default="1,2,3", help="sizes of fleets")
    counts.add_argument("--checks", type=int, default=500, metavar="URLS", help="0: none")
    checks = modes.add_parser("checks")
    checks.add_argument("--callers", type=int, default=300)
    checks.add_argument("--instances", type=int, default=3)
    checks.add_argument("--urls", type=int, default=200, help="of each of two types")
    checks.add_argument("--delay", type=float, default=0.05, help="of the frontend, in seconds")
    chaos = modes.add_parser("chaos")
    chaos.add_argument("--seconds", type=float, default=600)
    chaos.add_argument("--instances", type=int, default=3)
    chaos.add_argument("--documents", type=int, default=150, help="of each of two types")
    chaos.add_argument("--rate", type=float, default=15, help="requests/s to each instance")
    chaos.add_argument(
        "--faults", default="", help="only these, such as cut,kill-leader+stop-follower"
    )
    chaos.add_argument("--longest", type=float, help="seconds that a fault lasts at most")
    chaos.add_argument("--soft", type=int, default=2, help="seconds between refreshes")
    chaos.add_argument("--log", type=pathlib.Path, help="a folder that keeps the logs")
    away = modes.add_parser("away")
    away.add_argument("--pairs", type=int, default=5)
    away.add_argument("--seconds", type=int, default=5, help="of each measurement")
    away.add_argument("--most", type=float, default=1.1, help="the largest ratio")
    away.add_argument("--instances", type=int, default=2)
    for mode in (counts, checks, chaos, away):
        mode.add_argument("--seed", type=int, default=1)
    return parser


def main() -> None:
    options = parser().parse_args()
    binary = options.binary.resolve()
    if not binary.is_file():
        sys.exit(f"{binary} is missing")
    # So that `with` blocks end what they have started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.mode == "counts":
        from fleet import counts, worlds

        sizes = [int(size) for size in options.instances.split(",")]
        world = worlds.strapi() if options.strapi else worlds.fake(options.documents)
        with world as cms:
            counts.run(binary, cms, sizes, options.edits, options.seed, options.checks)
    elif options.mode == "checks":
        from fleet import checks

        given = (options.instances, options.callers, options.urls, options.delay)
        checks.run(binary, *given, options.seed)
    elif options.mode == "chaos":
        from fleet.chaos import run

        run.run(binary, options)
    else:
        from fleet import away

        away.run(binary, options)
    print(f"{Report.held} held, {Report.failed} failed")
    sys.exit(Report.failed > 0)


if __name__ == "__main__":
    main()
