#!/usr/bin/env python3
"""Mutation testing of the rule core and the query parser.

Changes one thing after the other in the code and lists the changes that no unit test notices. Needs
cargo-mutants (`cargo install --locked cargo-mutants`). It would build the whole crate for each of
1,300 changes; so it runs in a copy of the two alone, in `mutants` of the target folder, which
builds in a second. What the query parser uses of the rest is replaced there by a stand-in. The
copy's `mutants.out` has the lists. Ends with status 1 if fewer than 90 in 100 of the changes that
compile are noticed.

Left out: the code for fuzzing alone, and the one unit test that takes longer than all others
together, so what bounds the comparison of many rules counts as unnoticed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

from common.build import ROOT, TARGET

COPY = TARGET / "mutants"
COPIED = ("src/rules.rs", "src/rules", "src/http/request/params.rs", "src/http/request/query.rs")
MUST_NOTICE = 0.9
# cargo-mutants: all changes noticed; some unnoticed; some time out, which is noticed too.
EXPECTED_STATUSES = (0, 2, 3)

MANIFEST = """
[workspace]
[package]
name = "core"
edition = "2024"
[profile.dev]
debug = 0
[dependencies]
"""
# Fewer generated cases, and no search for the smallest one that fails.
CARGO_SETTINGS = """
[env]
PROPTEST_CASES = "64"
PROPTEST_MAX_SHRINK_ITERS = "0"
"""
MUTANTS_SETTINGS = """
additional_cargo_args = ["--lib"]
additional_cargo_test_args = ["--", "--skip", "rules_with_many_values"]
exclude_globs = ["src/lib.rs", "src/rules/**/tests.rs", "src/rules/fixtures.rs"]
exclude_re = ["fuzz_query"]
timeout_multiplier = 10.0
"""
LIBRARY = """
#![allow(dead_code)]
pub mod rules;
mod http {
    mod request {
        pub(super) mod params;
        pub(super) mod query;
    }
    mod response {
        pub(super) mod error {
            #[derive(Debug)]
            pub(in crate::http) struct ApiError { message: std::borrow::Cow<'static, str> }
            impl ApiError {
                pub(in crate::http) fn validation(
                    message: impl Into<std::borrow::Cow<'static, str>>,
                ) -> Self {
                    Self { message: message.into() }
                }
            }
        }
    }
}
mod site { pub(crate) struct Site; }
mod app {
    pub(crate) struct App { pub(crate) sites: std::collections::HashMap<String, crate::site::Site> }
}
"""


def copy_sources() -> None:
    # What was built stays, so that the next run begins sooner.
    shutil.rmtree(COPY / "src", ignore_errors=True)
    for name in COPIED:
        source, target = ROOT / name, COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)
    # As a file, it keeps proptest from saving a case of one change for those that follow.
    (COPY / "proptest-regressions").touch()
    (COPY / ".cargo").mkdir(exist_ok=True)
    (COPY / ".cargo/config.toml").write_text(CARGO_SETTINGS)
    (COPY / ".cargo/mutants.toml").write_text(MUTANTS_SETTINGS)
    (COPY / "src/lib.rs").write_text(LIBRARY)
    (COPY / "Cargo.toml").write_text(MANIFEST + "\n".join(dependencies()) + "\n")
    shutil.copy2(ROOT / "Cargo.lock", COPY)


def dependencies() -> list[str]:
    """The lines of the manifest for the crates that the copied code names, tests included."""
    code = "".join(file.read_text() for file in (COPY / "src").rglob("*.rs"))
    lines = []
    for line in (ROOT / "Cargo.toml").read_text().splitlines():
        crate = re.match(r"([a-z_-]+) = (?:\"|\{ version)", line)
        if crate and re.search(rf"\b{crate[1].replace('-', '_')}::", code):
            lines.append(line)
    return lines


def count(name: str) -> int:
    return len((COPY / f"mutants.out/{name}.txt").read_text().splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="such as src/rules/uid.rs")
    options = parser.parse_args()
    copy_sources()
    files = [word for file in options.files for word in ("--file", file)]
    target = {"CARGO_TARGET_DIR": str(COPY / "target"), "CARGO_INCREMENTAL": "1"}
    command = ["cargo", "mutants", "--dir", str(COPY), "--in-place", *files]
    status = subprocess.run(command, cwd=ROOT, env=os.environ | target).returncode
    if status not in EXPECTED_STATUSES:
        sys.exit(status)
    noticed = count("caught") + count("timeout")
    every = noticed + count("missed")
    print(f"noticed: {noticed} of {every}, {100 * noticed // max(every, 1)} in 100")
    sys.exit(noticed < MUST_NOTICE * every)


if __name__ == "__main__":
    main()
