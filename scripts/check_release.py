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
import platform
import re
import shutil
import tempfile
import time

from common.build import ROOT, TARGET
from common.client import free_port, get, until
from common.process import Process
from release import roots
from release.npm import LAUNCHER
from release.shell import must, run, step
from release.targets import BINARY_NAME, TARGETS, Target, version

QUESTION = "/api/get-content-type?site=main&pathname=/en/articles/welcome"
ANSWER = '"collectionType":"plugin::cms.article"'
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
    emulated = not target.triple.startswith(platform.machine())
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
            native = target.triple.startswith(platform.machine())
            if native:
                check_npm(target, folder, tried("npm"))
            if options.npm:
                continue
            if native:
                check_image(target, folder, tried("image"))
            check_archive(target, folder, tried(target.triple))
        if options.system:
            roots.check_system(present, folder, work)
    print("check_release: ok")


if __name__ == "__main__":
    main()
