#!/usr/bin/env python3
"""Installs what `pack_release.py` has written as users do, and starts it.

For each platform whose files are in FOLDER: the sums; the npm packages in an empty folder, with
each command; the archive in an empty root, where nothing but the binary is. Binaries of another
processor run under qemu-user. With `--system`, the .deb and .rpm are installed, upgraded and
removed in roots of Debian, which `mmdebstrap` makes: minutes. Needs root (chroot) and npm.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import tempfile
import time

from common.build import ROOT, TARGET
from common.client import free_port, get, until
from common.process import Process
from release import roots
from release.contents import check_contents
from release.npm import LAUNCHER
from release.roots import ANSWER
from release.shell import must, run, step
from release.targets import BINARY_NAME, TARGETS, Target, version

QUESTION = "/api/get-content-type?site=main&pathname=/en/articles/welcome"
NEWER = (
    "clone3,close_range,copy_file_range,epoll_pwait2,execveat,faccessat2,futex_waitv,getrandom,"
    "io_uring_setup,membarrier,memfd_create,mlock2,openat2,pidfd_open,preadv2,process_madvise,"
    "pwritev2,renameat2,rseq,sched_getattr,sched_setattr,seccomp,statx,userfaultfd"
)
# Commands that write the binary of a package.
DEB = f"dpkg-deb --fsys-tarfile {{}} | tar xO ./usr/bin/{BINARY_NAME}"
RPM = f"rpm2archive --nocompression - < {{}} | tar xO ./usr/bin/{BINARY_NAME}"
# Of the image.
USER = 65532


def check_sums(folder: pathlib.Path, work: pathlib.Path) -> None:
    step("sums: right, and wrong for a file that is cut in half")
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", folder=folder)
    whole = max(folder.glob("*.tgz"), key=lambda file: file.stat().st_size)
    half = work / whole.name
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    own = [line for line in (folder / "SHA256SUMS").read_text().splitlines() if half.name in line]
    (work / "SHA256SUMS").write_text("\n".join(own) + "\n")
    print(run("sha256sum", "--check", "SHA256SUMS", folder=work, status=1).strip())


def check_npm(target: Target, folder: pathlib.Path, work: pathlib.Path) -> None:
    step("npm: from an empty folder to the first right answer")
    files = [
        folder / f"{BINARY_NAME}-{version()}.tgz",
        folder / f"{BINARY_NAME}-{target.npm}-{version()}.tgz",
    ]
    begun = time.monotonic()
    run("npm", "install", "--no-audit", "--no-fund", *files, folder=work)
    # npx itself ends at once at a signal, so the end is that of the launcher.
    with Process(work / "node_modules/.bin" / BINARY_NAME, "demo", folder=work) as demo:
        address = ""
        while not address:
            line = demo.line()
            address = line.split("//")[-1] if line.startswith("service ") else ""
        must(until(lambda: ANSWER in get(address, QUESTION).body.decode()), "no right answer")
        print(f"{time.monotonic() - begun:.1f} s until {get(address, QUESTION).body.decode()}")
        status = demo.stop()
        must(status == 0, f"status {status} after SIGTERM")
    check_commands(work)


def check_commands(work: pathlib.Path) -> None:
    step("npm: each command in the folder of a frontend")
    fixture = ROOT / "tests/fixtures/main"
    shutil.copy(fixture / "settings.toml", work / "frontend-map.toml")
    shutil.copy(fixture / "content.json", work / "content.json")
    # Port 9 (discard) is refused: each URL is dead, which is the result.
    variables = {"FRONT_END_URL_MAIN": "http://127.0.0.1:9"}

    def npx(*arguments: str, status: int = 0) -> str:
        command = ["npx", "--no", BINARY_NAME, *arguments]
        return run(*command, folder=work, status=status, **variables)

    must("curl" in npx("demo", "--once"), "demo shows no operation")
    must("rules" in npx("check", "--offline"), "check lists nothing")
    npx("types", "--output", "frontend-map.d.ts")
    must("plugin::cms.article" in (work / "frontend-map.d.ts").read_text(), "no types")
    npx("types", "--output", "frontend-map.d.ts", "--check")
    shutil.copy(work / "frontend-map.toml", work / "old.toml")
    npx("diff", "--against", "old.toml")
    npx("validate", "--site", "main", status=1)
    refused = npx("init", "--cms", "http://127.0.0.1:9", "--out", "new.toml", status=1)
    must("127.0.0.1:9" in refused, f"init does not name the CMS: {refused}")
    tests = run("node", "--test", LAUNCHER / "test", FRONTEND_MAP_BINARY=str(binary_of(work)))
    must("# fail 0" in tests, tests)


def binary_of(work: pathlib.Path) -> pathlib.Path:
    return next((work / "node_modules/@frontend-map").glob(f"*/{BINARY_NAME}"))


def check_archive(target: Target, folder: pathlib.Path, work: pathlib.Path) -> None:
    emulated = not target.is_native
    step(f"archive of {target.triple}: in an empty root{', under qemu' if emulated else ''}")
    top = f"{BINARY_NAME}-{version()}-{target.triple}"
    run("tar", "xf", folder / f"{top}.tar.gz", "-C", work)
    found = sorted(str(one.relative_to(work / top)) for one in (work / top).rglob("*.*"))
    for name in ("systemd/frontend-map.service", "completions/_frontend-map", "man/frontend-map.1"):
        must((work / top / name).is_file(), f"there is no {name}: {found}")
    before = roots.prepare(target, work / top, emulated=emulated)
    print(run("chroot", work / top, *before, f"/{BINARY_NAME}", "--version").strip())
    shown = run("chroot", work / top, *before, f"/{BINARY_NAME}", "demo", "--once")
    must(ANSWER in shown, f"the demo has no right answer: {shown}")
    if target.is_native:
        check_old_machine(target, work / top / BINARY_NAME)


def check_old_machine(target: Target, binary: pathlib.Path) -> None:
    step("old machine: without system calls newer than Linux 3.10, and on the first processors")
    commands = {
        "strace": [
            *("strace", "-f", "-qq", "-o", os.devnull),
            "-e",
            f"inject={NEWER}:error=ENOSYS",
        ],
        target.emulator: [target.emulator, "-cpu", target.first_processor],
    }
    for program, before in commands.items():
        if shutil.which(program) is None:
            print(f"SKIPPED: {program} is not installed")
            continue
        must(ANSWER in run(*before, binary, "demo", "--once"), f"no right answer under {program}")


def check_bytes(target: Target, folder: pathlib.Path) -> None:
    """So that each package is tried where one of them is started."""
    step(f"packages of {target.triple}: their binary is that of the archive")
    name = f"{BINARY_NAME}-{version()}"
    packages = {
        f"{name}-{target.triple}.tar.gz": f"tar xzf {{}} -O {name}-{target.triple}/{BINARY_NAME}",
        f"{BINARY_NAME}-{target.npm}-{version()}.tgz": f"tar xzf {{}} -O package/{BINARY_NAME}",
        f"{name}-image.tar.gz": f"tar xzf {{}} -O {target.deb}/{BINARY_NAME}",
        f"{BINARY_NAME}_{version()}-1_{target.deb}.deb": DEB,
        f"{name}-1.{target.rpm}.rpm": RPM,
    }
    sums = {}
    for package, command in packages.items():
        needed = command.split()[0]
        if shutil.which(needed) is None:
            print(f"SKIPPED: {package}: {needed} is not installed")
            continue
        sums[package] = run("sh", "-c", f"{command.format(package)} | sha256sum", folder=folder)
    must(len(set(sums.values())) == 1, f"binaries differ: {sums}")
    print(f"  {' '.join(sums)}", flush=True)


def check_image(target: Target, folder: pathlib.Path, work: pathlib.Path) -> None:
    """As the Dockerfile lays it out, without the base image, which brings root certificates."""
    step("image: its user serves and stores in an empty root, and its health check passes")
    run("tar", "xf", folder / f"{BINARY_NAME}-{version()}-image.tar.gz", "-C", work)
    dockerfile = (work / "Dockerfile").read_text()
    root = work / "root"
    root.mkdir()
    shutil.copy(work / target.deb / BINARY_NAME, root)
    shutil.copytree(work / "data", root / "data")
    os.chown(root / "data", USER, USER)
    shutil.copytree(ROOT / "tests/fixtures/main", root / "etc/frontend-map")
    variables = dict(re.findall(r"^ENV (\w+)=(.*)$", dockerfile, re.MULTILINE))
    port = free_port()
    variables |= {
        "FRONTEND_MAP__SERVER__LISTEN": f"0.0.0.0:{port}",
        "FRONTEND_MAP__STORE__PATH": "/data/frontend-map.redb",
        "FRONT_END_URL_MAIN": "https://www.example.com",
    }
    start, check, arguments = (
        json.loads(found)
        for word in ("^ENTRYPOINT", "^HEALTHCHECK .*CMD", "^CMD")
        for found in re.findall(rf"{word} (\[.+\])$", dockerfile, re.MULTILINE)
    )
    user = ["chroot", f"--userspec={USER}:{USER}", str(root)]
    must(f"\nUSER {USER}:{USER}\n" in dockerfile, "the image has another user")
    with Process(*user, *start, *arguments, variables=variables) as service:
        address = f"127.0.0.1:{port}"
        must(until(lambda: ANSWER in get(address, QUESTION).body.decode()), "no right answer")
        run(*user, *check, **variables)
        status = service.stop()
        must(status == 0, f"status {status} after SIGTERM")
    must((root / "data/frontend-map.redb").is_file(), "there is no store")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=pathlib.Path, default=TARGET / "release-packages")
    parser.add_argument("--system", action="store_true", help="also .deb and .rpm")
    parser.add_argument("--npm", action="store_true", help="the npm packages alone")
    options = parser.parse_args()
    folder: pathlib.Path = options.folder.absolute()
    packed = {one: folder / f"{BINARY_NAME}-{one.npm}-{version()}.tgz" for one in TARGETS}
    present = [one for one in TARGETS if one.is_linux and packed[one].is_file()]
    must(present, f"{folder} has no package of npm with a binary")

    def tried(check: str) -> pathlib.Path:
        path = work / check
        path.mkdir()
        return path

    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        check_sums(folder, tried("sums"))
        for target in present:
            if target.is_native:
                check_npm(target, folder, tried("npm"))
            if options.npm:
                continue
            if target.is_native:
                check_image(target, folder, tried("image"))
            check_archive(target, folder, tried(target.triple))
            check_bytes(target, folder)
            archive = f"{BINARY_NAME}-{version()}-{target.triple}"
            check_contents(target, folder, work / target.triple / archive, work)
        if options.system:
            roots.check_system(present, folder, work)
    print("check_release: ok")


if __name__ == "__main__":
    main()
