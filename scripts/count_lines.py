#!/usr/bin/env python3
"""Lines of code of each package: product and tests apart, without comments and empty lines.

A test is what `#[cfg(test)]` is written above, with the files of such a module. Prints a row for
each package: files, lines of product code, lines of its tests, and the largest file. `--rev` counts
another commit.
"""

import argparse
import io
import pathlib
import re
import subprocess
import tarfile
import tempfile
from typing import NamedTuple

from common.build import ROOT

TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*\s*(?:pub\S* )?mod (\w+)(;| \{)")


def is_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith("//")


def parts(text: str) -> tuple[int, int, list[str]]:
    """Lines of product code and of tests in a file, and the test modules that it declares."""
    modules = [name for name, end in TEST_MODULE.findall(text) if end == ";"]
    inline = [found.start() for found in TEST_MODULE.finditer(text) if found[2] == " {"]
    end = min(inline, default=len(text))
    product, tests = text[:end].splitlines(), text[end:].splitlines()
    return sum(map(is_code, product)), sum(map(is_code, tests)), modules


class Counts(NamedTuple):
    """Of one package."""

    files: int
    product: int
    tests: int
    largest: str


def count(folder: pathlib.Path) -> Counts:
    files = {path: parts(path.read_text()) for path in sorted(folder.rglob("*.rs"))}
    of_tests: set[pathlib.Path] = set()
    for path, (_, _, modules) in files.items():
        is_root = path.stem in ("lib", "main", "mod")
        base = path.parent if is_root else path.with_suffix("")
        for name in modules:
            of_tests |= {base / f"{name}.rs", base / name}
    product = tests = 0
    largest = (0, "")
    for path, (own, in_tests, _) in files.items():
        if any(one == path or one in path.parents for one in of_tests):
            tests += own + in_tests
        else:
            product, tests = product + own, tests + in_tests
            largest = max(largest, (own, str(path.relative_to(folder))))
    return Counts(len(files), product, tests, f"{largest[1]} ({largest[0]})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rev", default="HEAD", help="the commit")
    rev = parser.parse_args().rev
    archive = subprocess.run(
        ["git", "archive", rev, "src", *(["crates"] if has_crates(rev) else [])],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        with tarfile.open(fileobj=io.BytesIO(archive)) as files_of_rev:
            files_of_rev.extractall(tree, filter="data")
        folders = {"src": tree / "src"}
        folders |= {path.name: path / "src" for path in sorted(tree.glob("crates/*"))}
        counts = {package: count(folder) for package, folder in folders.items()}
    print(f"{'package':<10} {'files':>6} {'product':>8} {'tests':>7}  largest file")
    for package, own in counts.items():
        print(f"{package:<10} {own.files:>6} {own.product:>8} {own.tests:>7}  {own.largest}")
    files = sum(own.files for own in counts.values())
    product = sum(own.product for own in counts.values())
    tests = sum(own.tests for own in counts.values())
    print(f"{'all':<10} {files:>6} {product:>8} {tests:>7}")


def has_crates(rev: str) -> bool:
    listed = subprocess.run(
        ["git", "ls-tree", rev, "crates"], cwd=ROOT, check=True, capture_output=True
    )
    return bool(listed.stdout)


if __name__ == "__main__":
    main()
