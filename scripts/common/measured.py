"""What bench-http and count-instructions measure: the release binary as it is by default."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
SERVICE = [TARGET / "frontend-map", "--config", ROOT / "tests/fixtures/main/settings.toml", "serve"]
# The fixture's CORS is none of the defaults.
SETTINGS = {"FRONT_END_URL_MAIN": "https://www.example.com", "FRONTEND_MAP__SERVER__CORS_ORIGINS": ""}
BARE = TARGET / "examples/bare_server"
ROUTE = "/api/get-content-type"
KINDS = {
    "full": "site=main&pathname=/en/articles/hello-world",
    "compact": "site=main&pathname=/en/articles/hello-world&compact=true",
    "404": "site=main&pathname=/no/such/path/at/all",
}


def build():
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run(command, cwd=ROOT, check=True)
    subprocess.run(command + ["--example", "bare_server"], cwd=ROOT, check=True)
