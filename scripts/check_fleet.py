#!/usr/bin/env python3
"""Tests and measures several instances of the service that share a Redis.

Starts redis-server (Debian: redis-server), instances of BINARY and scripted peers, all on loopback,
and ends them, also on Ctrl-C. Modes:

counts   counts the list requests to the CMS of a fleet, and of one walk; the seconds from an edit,
         and from its publication, until all instances show it; the requests to the CMS for an
         edit; the bytes in Redis for a URL; the commands and bytes of Redis for a walk,
         an edit and a URL check, with one, two and three instances. Extrapolates the costs to 10,
         100 and 1,000 instances
checks   lets 300 clients of three instances start URL checks; the frontend counts the requests in
         flight, and how often each URL is requested
chaos    kills, stops and cuts off instances and Redis, flushes and damages its data, and loses
         and splits webhooks, while documents are edited; an oracle, which has the time line of the
         paths of each document, checks the responses of all instances
unavailable
         measures latency and requests per second with and without Redis, alternately; starts
         instances without Redis, and lets it return

Each requirement is printed as `held` or `FAILED`; the exit status is 1 if one has failed. Durations
are printed and are no requirements. A seed repeats the random choices, but not their timing.
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
    counts.add_argument("--documents", type=int, default=10_000, help="in the scripted CMS")
    counts.add_argument("--strapi", action="store_true", help="use a real Strapi with 300 articles")
    counts.add_argument("--edits", type=int, default=200)
    counts.add_argument("--instances", default="1,2,3", help="numbers of instances")
    counts.add_argument("--checks", type=int, default=500, metavar="URLS", help="0: no URL checks")
    checks = modes.add_parser("checks")
    checks.add_argument("--callers", type=int, default=300)
    checks.add_argument("--instances", type=int, default=3)
    checks.add_argument("--urls", type=int, default=200, help="in each of two content types")
    checks.add_argument("--delay", type=float, default=0.05, help="of each response, in seconds")
    chaos = modes.add_parser("chaos")
    chaos.add_argument("--seconds", type=float, default=600)
    chaos.add_argument("--instances", type=int, default=3)
    chaos.add_argument("--documents", type=int, default=150, help="in each of two content types")
    chaos.add_argument("--rate", type=float, default=15, help="requests/s to each instance")
    chaos.add_argument(
        "--faults", default="", help="only these faults, such as cut,kill-leader+stop-follower"
    )
    chaos.add_argument("--longest", type=float, help="the longest fault, in seconds")
    chaos.add_argument("--soft", type=int, default=2, help="soft_seconds and check_seconds")
    chaos.add_argument("--log", type=pathlib.Path, help="a folder for the logs of the instances")
    unavailable = modes.add_parser("unavailable")
    unavailable.add_argument("--pairs", type=int, default=5)
    unavailable.add_argument(
        "--seconds", type=int, default=5, help="the duration of each measurement"
    )
    unavailable.add_argument("--most", type=float, default=1.1, help="the largest permitted ratio")
    unavailable.add_argument("--instances", type=int, default=2)
    for mode in (counts, checks, chaos, unavailable):
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
        from fleet import unavailable

        unavailable.run(binary, options)
    print(f"{Report.held} held, {Report.failed} failed")
    sys.exit(Report.failed > 0)


if __name__ == "__main__":
    main()
