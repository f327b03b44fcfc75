#!/usr/bin/env python3
"""Mutation testing of the rules package and the query parser.

Changes one thing after the other in the code and lists the changes that no unit test notices. Needs
cargo-mutants (`cargo install --locked cargo-mutants`), which works in copies of the repository. The
lists are in `mutants.out` of the target folder. Ends with status 1 if fewer than 90 in 100 of the
changes that compile are noticed.

Left out: the code for fuzzing alone, and the one unit test that takes longer than all others
together, so what bounds the comparison of many rules counts as unnoticed.
"""

import argparse
import os
import subprocess
import sys

from common.build import ROOT, TARGET

FILES = (
    "crates/rules/src/**/*.rs",
    "crates/service/src/http/request/params.rs",
    "crates/service/src/http/request/query.rs",
)
LEFT_OUT = ("--exclude", "**/tests.rs", "--exclude", "**/fixtures.rs", "--exclude-re", "fuzz_query")
# Fewer generated cases, and no search for the smallest one that fails.
ENVIRONMENT = {
    "PROPTEST_CASES": "64",
    "PROPTEST_MAX_SHRINK_ITERS": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
}
MUST_NOTICE = 0.9
# cargo-mutants: all changes noticed; some unnoticed; some time out, which is noticed too.
EXPECTED_STATUSES = (0, 2, 3)


def count(name: str) -> int:
    return len((TARGET / f"mutants.out/{name}.txt").read_text().splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="*", default=FILES, metavar="FILE", help="such as crates/rules/src/uid.rs"
    )
    files = [word for file in parser.parse_args().files for word in ("--file", file)]
    # The tests of the changed package alone.
    command = ["cargo", "mutants", "--jobs", "2", "--output", str(TARGET), *files, *LEFT_OUT]
    command += ["--timeout-multiplier", "10", "--cargo-arg=--lib"]
    command += ["--", "--", "--skip", "rules_with_many_values"]
    status = subprocess.run(command, cwd=ROOT, env=os.environ | ENVIRONMENT).returncode
    if status not in EXPECTED_STATUSES:
        sys.exit(status)
    noticed = count("caught") + count("timeout")
    every = noticed + count("missed")
    print(f"noticed: {noticed} of {every}, {100 * noticed // max(every, 1)} in 100")
    sys.exit(noticed < MUST_NOTICE * every)


if __name__ == "__main__":
    main()
