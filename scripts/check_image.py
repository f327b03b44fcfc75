#!/usr/bin/env python3
"""Follows the Dockerfile step by step where no container engine runs.

Builds with the same command, checks that the build reads only what `.dockerignore` lets through,
lays out the final root with nothing else in it, and runs the service there as the image's user
under chroot, health check, name look-up and stop included. Needs root (chroot) and Debian 12 or a
later glibc. Not covered: pulling the base images, and what an engine adds by itself (/proc, /dev,
limits).
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping

from common.build import BINARY, ROOT, TARGET
from common.client import free_port, get, until
from common.process import Process
from image.peers import DOCUMENT_ID, Cms, NameServer

# distroless/cc has these libraries and no others.
LIBRARIES = re.compile(r"ld-linux-.*\.so\..*|libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1")
# An address of its own on loopback, so that port 53 is free.
NAME_SERVER = "127.53.53.53"
CMS_HOST = "cms.frontend-map.test"
STORE = "data/frontend-map.redb"
SETTINGS = """
[cms]
source = "strapi"
url = "http://{host}:{port}"

[[site]]
key = "main"
locales = ["en"]

[[site.rule]]
content_type = "api::article.article"
template = "/{{locale}}/articles/{{slug}}"

[[content_type]]
uid = "api::article.article"
endpoint = "articles"
"""
REFUSED_SETTINGS = 78


def step(text: str) -> None:
    print(f"- {text}", flush=True)


def must(holds: object, text: str) -> None:
    if not holds:
        raise SystemExit(f"check_image: {text}")


class Dockerfile:
    """Its instructions; continued lines are not used in it."""

    def __init__(self, path: pathlib.Path) -> None:
        self.lines = path.read_text().splitlines()

    def all(self, pattern: str) -> list[str]:
        """The first group of each line that the pattern matches as a whole."""
        matches = (re.fullmatch(pattern, line) for line in self.lines)
        return [match[1] for match in matches if match]

    def last(self, pattern: str) -> str:
        found = self.all(pattern)
        must(found, f"the Dockerfile has no line {pattern}")
        return found[-1]

    def words(self, pattern: str) -> list[str]:
        words: list[str] = json.loads(self.last(pattern))
        return words


class Image:
    """The final root in a folder, and processes that run in it."""

    def __init__(self, dockerfile: Dockerfile, root: pathlib.Path) -> None:
        self.root = root
        self.user, self.group = map(int, dockerfile.last(r"USER (.*)").split(":"))
        self.entrypoint = dockerfile.words(r"ENTRYPOINT (.*)")
        self.command = dockerfile.words(r"CMD (.*)")
        self.health = dockerfile.words(r"HEALTHCHECK .* CMD (.*)")
        self.stop_signal = signal.Signals[dockerfile.last(r"STOPSIGNAL (.*)")]
        pairs = (pair.split("=", 1) for pair in dockerfile.all(r"ENV (.*)"))
        self.environment = dict(pairs)

    def start(self, command: list[str], log: pathlib.Path) -> Process:
        """`env` becomes `chroot`, which becomes the command: the process is the service itself."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        chroot = shutil.which("chroot") or "/usr/sbin/chroot"
        user = f"--userspec={self.user}:{self.group}"
        return Process(
            *("env", "--ignore-environment", *variables),
            *(chroot, user, self.root, *command),
            log=log,
            stdout=log,
        )

    def is_healthy(self, log: pathlib.Path) -> bool:
        return self.start(self.health, log).wait() == 0


def build(dockerfile: Dockerfile, context: pathlib.Path) -> pathlib.Path:
    """Builds beside the history, so that nothing is built twice, and returns the binary."""
    command = dockerfile.last(r"RUN .*(cargo build .*)")
    step(f"build: {command}")
    environment: Mapping[str, str] = os.environ | {"CARGO_TARGET_DIR": str(TARGET)}
    subprocess.run(command.split(), cwd=ROOT, env=environment, check=True)
    built = dockerfile.last(r"COPY --from=build /build/target/(\S+) .*")
    must(TARGET / built == BINARY, f"the image has {built}, the other programs test {BINARY}")
    step("context: .dockerignore lets through what the build reads")
    copy_context(context)
    subprocess.run(
        ["cargo", "metadata", "--locked", "--no-deps", "--format-version=1"],
        cwd=context,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    # What the compiler has read, in the format of make.
    _, read = BINARY.with_suffix(".d").read_text().split(": ", 1)
    for name in re.split(r"(?<!\\)\s+", read.strip()):
        file = pathlib.Path(name.replace("\\ ", " ")).relative_to(ROOT)
        must((context / file).is_file(), f".dockerignore keeps {file} from the build")
    return BINARY


def copy_context(context: pathlib.Path) -> None:
    """Copies what `.dockerignore` lets through."""
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for name in (line[1:] for line in ignored if line.startswith("!")):
        source, target = ROOT / name, context / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def lay_out(dockerfile: Dockerfile, binary: pathlib.Path, root: pathlib.Path) -> None:
    step("layout: the binary, glibc, certificates; nothing else")
    for folder in ("etc/ssl/certs", "etc/frontend-map", "lib64"):
        (root / folder).mkdir(parents=True)
    install(binary, root / dockerfile.last(r"COPY --from=build \S+ /(.*)"))
    owner = dockerfile.last(r"COPY --chown=(\S+) --from=build /data /data")
    (root / "data").mkdir()
    os.chown(root / "data", *map(int, owner.split(":")))
    linked = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    for path in re.findall(r"(/\S*)", linked):
        name = pathlib.Path(path).name
        missing = f"the binary needs {path}, which the base image does not have"
        must(LIBRARIES.fullmatch(name), missing)
        install(pathlib.Path(path), root / path.lstrip("/"))
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "etc/ssl/certs")
    (root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
    (root / "etc/resolv.conf").write_text(f"nameserver {NAME_SERVER}\n")
    for path in (root.parent, root, *root.rglob("*")):
        path.chmod((path.stat().st_mode | 0o055 if path.is_dir() else path.stat().st_mode) & ~0o022)
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        print(f"  {file.relative_to(root)} {file.stat().st_size >> 10} KiB")


def install(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755)


def check_run(image: Image, log: pathlib.Path) -> None:
    port = free_port()
    # Settings by environment win over the image's own, as with `docker run -e`.
    image.environment |= {
        "FRONTEND_MAP__SERVER__LISTEN": f"127.0.0.1:{port}",
        "FRONTEND_MAP__SERVER__ADMIN_LISTEN": "",
    }

    step("without settings: a clear refusal")
    status = image.start([*image.entrypoint, *image.command], log).wait()
    must(status == REFUSED_SETTINGS, f"status {status} without settings, not {REFUSED_SETTINGS}")

    step("with settings and a CMS behind a name that only DNS knows")
    NameServer(NAME_SERVER)
    cms = Cms()
    settings = image.root / "etc/frontend-map/settings.toml"
    settings.write_text(SETTINGS.format(host=CMS_HOST, port=cms.port))
    must(not image.is_healthy(log), "healthy before it was started")
    image.environment |= {
        "FRONTEND_MAP__CMS__TOKEN": "of-no-use",
        "FRONT_END_URL_MAIN": "https://www.example.com",
        "FRONTEND_MAP__STORE__PATH": f"/{STORE}",
    }
    with image.start([*image.entrypoint, *image.command], log) as service:
        service.wait_until(lambda: image.is_healthy(log))
        found = pathlib.Path(f"/proc/{service.pid}").stat()
        is_user = (found.st_uid, found.st_gid) == (image.user, image.group)
        must(is_user, "it does not run as USER")
        check_answers(f"127.0.0.1:{port}", cms, log)
        check_store(image)

        step(f"stop: {image.stop_signal.name}")
        service.signal(image.stop_signal)
        status = service.wait(60)
        must(status == 0, f"status {status} after the stop signal")
        must(not image.is_healthy(log), "healthy after it stopped")


def check_answers(address: str, cms: Cms, log: pathlib.Path) -> None:
    step("an answer, and a request to the CMS")
    body = get(address, "/api/get-content-type?site=main&pathname=/en/articles/a").body.decode()
    print(body)
    must('"api::article.article"' in body, "the pathname is not resolved")
    target = f"/api/frontend-url?uid=api::article.article&documentId={DOCUMENT_ID}"
    body = get(address, target).body.decode()
    print(body)
    must("https://www.example.com/en/articles/hello" in body, "the URL is not built")
    by_name = any(line.startswith(CMS_HOST) for line in cms.requests)
    must(by_name, f"the CMS was not asked by name: {cms.requests}")
    must("no root certificates" not in log.read_text(), "the certificates are not found")


def check_store(image: Image) -> None:
    step("the store: in a folder that belongs to the user")
    path = image.root / STORE
    must(until(path.exists) is not None, f"there is no /{STORE}")
    found = path.stat()
    must((found.st_uid, found.st_gid) == (image.user, image.group), "it is of another user")
    must(found.st_mode & 0o777 == 0o600, f"others may read it: {found.st_mode:o}")


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    dockerfile = Dockerfile(ROOT / "Dockerfile")
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        (work / "context").mkdir()
        log = work / "log"
        log.touch()
        try:
            binary = build(dockerfile, work / "context")
            lay_out(dockerfile, binary, work / "root")
            step("the port: exposed is what is listened on")
            listen = dockerfile.last(r"ENV FRONTEND_MAP__SERVER__LISTEN=0\.0\.0\.0:(.*)")
            exposed = dockerfile.last(r"EXPOSE (.*)")
            must(listen == exposed, "EXPOSE and ENV name different ports")
            check_run(Image(dockerfile, work / "root"), log)
        except BaseException:
            print("".join(log.read_text().splitlines(keepends=True)[-20:]))
            raise
    print("check_image: ok")


if __name__ == "__main__":
    main()
