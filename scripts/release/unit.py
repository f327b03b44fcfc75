"""The command of the unit in a root, by hand: with the unit's environment, credential, user and
state, and the socket of a service manager. What only systemd does, such as the sandbox and
restarts, is not tried here.
"""

import os
import pathlib
import re
import shutil
import signal
import socket

from common.process import Process
from release.shell import must, step

SETTINGS = "etc/frontend-map/settings.toml"
UNIT = "usr/lib/systemd/system/frontend-map.service"
TOKEN = "etc/frontend-map/credentials/cms-token"
# The folder of DynamicUser, to which the name in the unit is a link.
STATE = "var/lib/private/frontend-map"
STORE = f"{STATE}/frontend-map.redb"
CREDENTIALS = "run/credentials"
SITE = """
[server]
listen = "127.0.0.1:0"
admin_listen = ""
drain_delay_ms = 0

[cms]
source = "files"

[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en", "de"]

[[site.rule]]
content_type = "plugin::cms.article"
template = "/{locale}/articles/{slug}"
"""
NOBODY = 65534
BAD_SETTINGS = 78


class Manager:
    """The socket of a service manager, in a root."""

    def __init__(self, root: pathlib.Path) -> None:
        self.path = root / "run/notify.socket"
        self.path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))
        self.path.chmod(0o666)
        self.socket.settimeout(30)

    def expect(self, service: Process, *wanted: str) -> None:
        """The next message has these lines."""
        try:
            lines = self.socket.recv(4096).decode().splitlines()
        except TimeoutError:
            service.failed(f"has not said {wanted}")
        print(f"  {' | '.join(lines)}", flush=True)
        must(set(wanted) <= set(lines), f"the service says {lines}, not {wanted}")

    def close(self) -> None:
        self.socket.close()
        self.path.unlink()


class Unit:
    def __init__(self, root: pathlib.Path) -> None:
        self.root, self.text = root, (root / UNIT).read_text()

    def all(self, name: str) -> list[str]:
        return re.findall(rf"(?m)^{name}=(.*)$", self.text.replace("%d", f"/{CREDENTIALS}"))

    def provide(self) -> None:
        """What systemd does before the start: credential and state."""
        for file in (TOKEN, f"{CREDENTIALS}/cms-token"):
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            (self.root / file).write_text("a-token\n")
        (self.root / STATE).mkdir(parents=True)
        (self.root / "var/lib/frontend-map").symlink_to("private/frontend-map")
        for folder in (self.root / STATE).parent, self.root / STATE:
            os.chown(folder, NOBODY, NOBODY)

    def start(self) -> Process:
        chroot = shutil.which("chroot") or "/usr/sbin/chroot"
        socket = "NOTIFY_SOCKET=/run/notify.socket"
        return Process(
            *("env", "--ignore-environment", *self.all("Environment"), socket),
            *(chroot, f"--userspec={NOBODY}:{NOBODY}", self.root),
            *self.all("ExecStart")[0].split(),
            log=self.root / "tmp/log",
        )

    def refuses(self, status: int, *words: str) -> None:
        """It ends by itself, and says why."""
        log = self.root / "tmp/log"
        log.unlink(missing_ok=True)
        with self.start() as service:
            found = service.wait()
            shown = service.log()
            must(found == status, f"status {found}, not {status}\n{shown}")
            must(all(word in shown for word in words), f"no word of {words}:\n{shown}")
            print(f"  status {found}: {shown.strip().splitlines()[-1]}", flush=True)


def check_unit(root: pathlib.Path) -> None:
    unit = Unit(root)
    unit.provide()
    settings = root / SETTINGS
    step("unit: without settings, with a bad credential and a port in use it says so and ends")
    # Of the unit's reasons for no restart.
    must(str(BAD_SETTINGS) in unit.all("RestartPreventExitStatus")[0].split(), "restarts for ever")
    unit.refuses(BAD_SETTINGS, "site")
    settings.write_text(SITE.replace('source = "files"', 'url = "http://127.0.0.1:9"'))
    credential = root / CREDENTIALS / "cms-token"
    credential.chmod(0o600)
    unit.refuses(BAD_SETTINGS, "cms-token", "ermission denied")
    credential.unlink()
    unit.refuses(BAD_SETTINGS, "cms-token", "o such file")
    credential.write_text("a-token\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        settings.write_text(SITE.replace("127.0.0.1:0", address))
        unit.refuses(1, "cannot listen", address)
    serve(unit, settings)
    credential.unlink()
    credential.parent.rmdir()


def serve(unit: Unit, settings: pathlib.Path) -> None:
    step("unit: its command with its environment says READY, RELOADING and STOPPING")
    settings.write_text(SITE)
    manager = Manager(unit.root)
    with unit.start() as service:
        manager.expect(service, "READY=1")
        service.signal(signal.SIGHUP)
        manager.expect(service, "RELOADING=1")
        manager.expect(service, "READY=1")
        settings.write_text("nonsense")
        service.signal(signal.SIGHUP)
        manager.expect(service, "RELOADING=1")
        manager.expect(service, "READY=1")
        settings.write_text(SITE)
        must((unit.root / STORE).is_file(), "there is no store")
        service.signal(signal.SIGTERM)
        manager.expect(service, "STOPPING=1")
        status = service.wait()
        must(status == 0, f"status {status} after SIGTERM\n{service.log()}")
    manager.close()
