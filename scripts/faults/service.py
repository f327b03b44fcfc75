"""The release binary under load and faults: its settings, its addresses, what it uses."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
BINARY = os.environ.get("FRONTEND_MAP", str(TARGET / "frontend-map"))
RESOLVE = "/api/get-content-type?site=main&pathname=/en/articles/hello-world"
LIST = "/api/build-sitemap?site=main&contentType=plugin::cms.article"
UID = "plugin::cms.article"


def one(document):
    return f"/api/frontend-url?uid={UID}&documentId={document}"


# Of a service in front of a scripted CMS. Its copies get old quickly, so that it has to ask.
STRAPI = """
[cms]
url = "http://{cms}"
[snapshots]
soft_seconds = 1
hard_seconds = 3600
at_start = false
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en"]
[[site.rule]]
content_type = "plugin::cms.article"
template = "/{{locale}}/articles/{{slug}}"
[[content_type]]
uid = "plugin::cms.article"
endpoint = "cms/articles"
"""

# Of a service on a file.
FILES = """
[cms]
source = "files"
path = "content.json"
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en"]
[[site.rule]]
content_type = "plugin::cms.article"
template = "/{locale}/articles/{slug}"
"""


def content(documents):
    """The text of a content file with so many articles."""
    slugs = (f'{{"documentId":"d{n}","locale":"en","slug":"a-slug-of-usual-length-{n}"}}' for n in range(documents))
    return f'{{"{UID}":[{",".join(slugs)}]}}'


class Service:
    """A running `serve` in a folder of its own; it is killed where it still runs at the end."""

    def __init__(self, settings, content=None, command=(), stdout=None, stderr=subprocess.DEVNULL,
                 listen="127.0.0.1:0", **variables):
        self.folder = tempfile.TemporaryDirectory()
        self.settings = pathlib.Path(self.folder.name) / "settings.toml"
        self.settings.write_text(settings)
        if content is not None:
            (self.settings.parent / "content.json").write_text(content)
        given = {"SERVER__LISTEN": listen, "SERVER__ADMIN_LISTEN": "127.0.0.1:0",
                 "SERVER__DRAIN_DELAY_MS": "0"} | variables
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FRONT")}
        environment |= {f"FRONTEND_MAP__{name}": str(value) for name, value in given.items()}
        self.process = subprocess.Popen(
            [*command, BINARY, "--config", self.settings, "serve"],
            env=environment, stdout=stdout or subprocess.PIPE, stderr=stderr)
        self.address = self.admin = None
        if stdout is None:
            self.address = self.line()
            self.admin = self.line().split()[-1]

    def line(self):
        line = self.process.stdout.readline().decode().strip()
        if not line:
            raise SystemExit(f"the service did not start: status {self.process.wait()}")
        return line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def signal(self, name):
        self.process.send_signal(getattr(signal, f"SIG{name}"))

    def stop(self, patience=40):
        """The exit status after SIGTERM, and the seconds it took."""
        begun = time.monotonic()
        self.signal("TERM")
        status = self.process.wait(patience)
        return status, time.monotonic() - begun

    def get(self, target, admin=False, timeout=130, **headers):
        return get(self.admin if admin else self.address, target, timeout, **headers)

    def metrics(self):
        """The value of each series by its name and labels, as scraped."""
        lines = self.get("/metrics", admin=True)[2].decode().splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def metric(self, name, **labels):
        """The sum of the series of this name with these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        return sum(value for series, value in self.metrics().items()
                   if re.split(r"[{ ]", series)[0] == name and all(label in series for label in wanted))

    def memory(self):
        """Resident bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def get(address, target, timeout=130, **headers):
    """(status, headers, body)"""
    request = urllib.request.Request(f"http://{address}{target}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def until(condition, patience=30.0, pause=0.01):
    """Seconds until it holds, or None where it does not."""
    begun = time.monotonic()
    while time.monotonic() - begun < patience:
        with contextlib.suppress(OSError):
            if condition():
                return time.monotonic() - begun
        time.sleep(pause)
    return None
