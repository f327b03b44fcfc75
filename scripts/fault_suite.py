#!/usr/bin/env python3
"""Injects faults that the shipped binary must survive.

Scenarios: slow_clients (silent, half a head, never reading), restart (rolling, behind a balancer),
reload (under load, half of them broken), outage (of the CMS), soak, faulty_host (full disk, few
descriptors, another day), metric_series (random requests). All of them by default; short ones take
minutes in all, `--long` ones up to half an hour each.

`wrk` (Debian: wrk) and libfaketime (Debian: libfaketime) must be installed, and
`cargo build --profile dist` done; $FRONTEND_MAP names another binary. Loopback only. Prints
figures, which are the machine's and decide nothing, and what must hold; status 1 where something
does not.
"""

import argparse
import importlib
import sys

from faults.report import Report

SCENARIOS = (
    "slow_clients",
    "restart",
    "reload",
    "outage",
    "soak",
    "faulty_host",
    "metric_series",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--long", action="store_true")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=" ".join(SCENARIOS))
    options = parser.parse_args()
    if unknown := set(options.scenarios) - set(SCENARIOS):
        parser.error(f"there is no {' '.join(unknown)}")
    for name in options.scenarios or SCENARIOS:
        importlib.import_module(f"faults.{name}").run(options.long)
    print(f"{Report.held} held, {Report.failed} failed")
    sys.exit(Report.failed > 0)


if __name__ == "__main__":
    main()
