#!/usr/bin/env python3
"""What must not bring the service down: starts the release binary and does all this to it.

    scripts/fault_suite.py [--long] [SCENARIO…]

Scenarios: crowd (clients that let us wait), restart (rolling, behind a balancer), reload, outage (of
the CMS), soak, host (full disk, few descriptors, another day), series (of the metrics). All of them
by default; short ones take minutes in all, `--long` ones up to half an hour each. `wrk` (Debian: wrk)
and libfaketime (Debian: libfaketime) must be installed, and `cargo build --release` done. Loopback
only. Prints figures, which are the machine's, and what must hold; status 1 where something does not.
"""

import argparse
import importlib
import sys

sys.dont_write_bytecode = True
from faults.report import Report  # noqa: E402 (after the above)

SCENARIOS = ("crowd", "restart", "reload", "outage", "soak", "host", "series")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=" ".join(SCENARIOS))
    options = parser.parse_args()
    if unknown := set(options.scenarios) - set(SCENARIOS):
        parser.error(f"there is no {' '.join(unknown)}")
    for name in options.scenarios or SCENARIOS:
        importlib.import_module(f"faults.{name}").run(options.long)
    print(f"{Report.total_held} held, {Report.total_failed} failed")
    sys.exit(Report.total_failed > 0)


if __name__ == "__main__":
    main()
