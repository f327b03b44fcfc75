#!/usr/bin/env python3
"""Builds the binaries of a release for Linux: static, with musl and mimalloc, without a libc of
the system.

Writes FOLDER/TRIPLE/frontend-map, which is stripped, and frontend-map.debug beside it. Two builds
of one commit shall have the same bytes, whatever the folders of the repository and of cargo are:
`.ci/run release` compares them.

zig, in the version of `release/requirements.txt`, has the C compiler, linker and musl for all
targets. The standard library is that of rustup where the target is installed (`rustup target add
TRIPLE`); where it is not, `--std-from CARGO` builds it with the toolchain beside that cargo, such
as Debian's /usr/bin/cargo (packages cargo-web, rustc-web and rust-web-src).
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time

from common.build import PROFILE, ROOT, TARGET
from release.targets import BINARY_NAME, BY_TRIPLE, LINUX, Target, commit_seconds

RELEASE = pathlib.Path(__file__).parent / "release"
CARGO_HOME = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))


def printed(*command: str, environment: dict[str, str] | None = None) -> str:
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True, env=environment
    ).stdout.strip()


def has_std(target: Target) -> bool:
    """Whether the toolchain in use has the target's standard library."""
    libraries = printed("rustc", "--print", "target-libdir", "--target", target.triple)
    return any(pathlib.Path(libraries).glob("libstd-*.rlib"))


def compile_memcmp(target: Target, into: pathlib.Path) -> pathlib.Path:
    """The object file of `release/memcmp.c`."""
    into.mkdir(parents=True, exist_ok=True)
    command = ["python-zig", "cc", "-target", target.triple.replace("-unknown", "")]
    command += ["-O2", "-g0", "-fPIC", "-ffreestanding", "-fno-builtin", "-c", "memcmp.c"]
    subprocess.run([*command, "-o", into / "memcmp.o"], cwd=RELEASE, check=True)
    return into / "memcmp.o"


def flags(
    prefixes: dict[pathlib.Path, str], memcmp: pathlib.Path, *, builds_std: bool
) -> tuple[str, str]:
    """Of the Rust and of the C compiler: no path of this machine in the binary."""
    rust = [f"--remap-path-prefix={path}={name}" for path, name in prefixes.items()]
    c = [f"-ffile-prefix-map={path}={name}" for path, name in prefixes.items()]
    # zig ignores the `-static-pie` of rustc, and makes the same of `-pie`.
    rust += ["-Clink-arg=-pie", f"-Clink-arg={memcmp}"]
    if builds_std:
        # musl and its start files are zig's; only rustup's standard library has its own.
        rust.append("-Clink-self-contained=no")
    return "\x1f".join(rust), " ".join(c)


def build(target: Target, into: pathlib.Path, target_dir: pathlib.Path, std_from: str) -> None:
    builds_std = not has_std(target)
    if builds_std and not std_from:
        raise SystemExit(
            f"the standard library of {target.triple} is not installed: "
            f"rustup target add {target.triple}, or --std-from CARGO"
        )
    environment = dict(os.environ)
    cargo = "cargo"
    if builds_std:
        cargo = std_from
        rustc = str(pathlib.Path(std_from).with_name("rustc"))
        environment |= {"RUSTC": rustc, "RUSTC_BOOTSTRAP": "1"}
    rustc = environment.get("RUSTC", "rustc")
    sysroot = pathlib.Path(printed(rustc, "--print", "sysroot", environment=environment))
    source = sysroot / "lib/rustlib/src/rust"
    prefixes = {
        source: "/rust",
        source.resolve(): "/rust",
        CARGO_HOME / "registry/src": "/crates",
        CARGO_HOME: "/cargo",
        target_dir: "/target",
        ROOT: "/frontend-map",
    }
    memcmp = compile_memcmp(target, target_dir / "memcmp")
    rust_flags, c_flags = flags(prefixes, memcmp, builds_std=builds_std)
    environment |= {
        "CARGO": cargo,
        "CARGO_TARGET_DIR": str(target_dir),
        "CARGO_INCREMENTAL": "0",
        "CARGO_ENCODED_RUSTFLAGS": rust_flags,
        f"CFLAGS_{target.triple.replace('-', '_')}": c_flags,
        # Names and lines, which `divide` takes out.
        "CARGO_PROFILE_DIST_STRIP": "none",
        "CARGO_PROFILE_DIST_DEBUG": "line-tables-only",
        "SOURCE_DATE_EPOCH": commit_seconds(),
        "ZERO_AR_DATE": "1",
    }
    command = [cargo, "auditable", "zigbuild", "--locked", "--profile", PROFILE]
    command += ["--bin", BINARY_NAME, "--target", target.triple]
    # A release is built once and downloaded often. docs/performance.md, "Choices of the build".
    command += ["--config", f'profile.{PROFILE}.lto="fat"']
    if builds_std:
        command.append("-Zbuild-std=std,panic_unwind")
    begun = time.monotonic()
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    divide(target, target_dir / target.triple / PROFILE / BINARY_NAME, into / target.triple)
    print(f"{target.triple}: {time.monotonic() - begun:.0f} s", flush=True)


def divide(target: Target, built: pathlib.Path, into: pathlib.Path) -> None:
    """The binary without debug information, which refers to the file beside it that has it."""
    into.mkdir(parents=True, exist_ok=True)
    binary, debug = into / BINARY_NAME, into / f"{BINARY_NAME}.debug"
    for file in (binary, debug):
        file.unlink(missing_ok=True)
    copy = [target.objcopy, "--enable-deterministic-archives"]
    subprocess.run([*copy, "--only-keep-debug", built, debug], check=True)
    subprocess.run([*copy, "--strip-all", built, binary], check=True)
    # By its name alone: the path of the folder is not part of the link.
    link = [target.objcopy, f"--add-gnu-debuglink={debug.name}", binary.name]
    subprocess.run(link, cwd=into, check=True)
    debug.chmod(0o644)
    for file in (binary, debug):
        print(f"  {file} {file.stat().st_size / 1e6:.2f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--into", type=pathlib.Path, default=TARGET / "release-binaries")
    parser.add_argument("--std-from", default="", metavar="CARGO")
    parser.add_argument("triples", nargs="*", metavar="TRIPLE", help="by default those of Linux")
    options = parser.parse_args()
    for program in ("cargo-zigbuild", "cargo-auditable"):
        if shutil.which(program) is None:
            raise SystemExit(f"{program} is not installed: cargo install --locked {program}")
    triples = options.triples or [target.triple for target in LINUX]
    for triple in triples:
        if triple not in BY_TRIPLE or not BY_TRIPLE[triple].is_linux:
            sys.exit(f"{triple} is not built here; there are {[one.triple for one in LINUX]}")
    # At once, in folders of their own: each link uses one core for minutes.
    with concurrent.futures.ThreadPoolExecutor(len(triples)) as pool:
        builds = [
            pool.submit(
                build,
                BY_TRIPLE[triple],
                options.into.absolute(),
                TARGET / "release-build" / triple,
                options.std_from,
            )
            for triple in triples
        ]
        for one in builds:
            one.result()


if __name__ == "__main__":
    main()
