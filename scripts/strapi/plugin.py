"""The plugin of `plugins/strapi` in the fixture: packed, installed, and in its admin panel."""

import json
import os
import pathlib
import subprocess
import tarfile
import time

from common.build import ROOT

PLUGIN = ROOT / "plugins/strapi"
NAME = "strapi-plugin-frontend-map"
# Languages of the admin panel beside English.
ADMIN = "export default { config: { locales: ['de'] }, bootstrap() {} };\n"


def lab() -> pathlib.Path:
    """The folder in which the fixture is installed."""
    return pathlib.Path(os.environ.get("LAB_DIR") or "~/.cache/strapi-lab").expanduser()


def npm(*arguments: str) -> None:
    environment = {**os.environ, "LAB_DIR": str(lab())}
    subprocess.run(["npm", *arguments], cwd=PLUGIN, env=environment, check=True)


def packed(folder: pathlib.Path) -> pathlib.Path:
    """The package as `npm pack` writes it; needs the fixture for the types."""
    if not (PLUGIN / "node_modules/@strapi/sdk-plugin").is_dir():
        # Not `npm ci`: the lock file has no optional packages of other platforms.
        npm("install", "--no-save", "--no-audit", "--no-fund")
    npm("run", "--silent", "peers")
    npm("run", "--silent", "build")
    npm("pack", "--silent", "--pack-destination", str(folder))
    (package,) = folder.glob("*.tgz")
    return package


def install(package: pathlib.Path) -> None:
    """Unpacked as npm does it, without a look at the other packages of the fixture (minutes).

    `start.sh install` writes the fixture's own `package.json` again.
    """
    target = lab() / "node_modules" / NAME
    subprocess.run(["rm", "-rf", str(target)], check=True)
    with tarfile.open(package) as archive:
        for member in archive.getmembers():
            # All files of a package are in one folder.
            member.name = member.name.removeprefix("package/")
            archive.extract(member, target, filter="data")
    file = lab() / "package.json"
    project = json.loads(file.read_text())
    project["dependencies"][NAME] = "0.1.0"
    file.write_text(json.dumps(project, indent=2) + "\n")
    admin = lab() / "src/admin"
    admin.mkdir(exist_ok=True)
    (admin / "app.js").write_text(ADMIN)


def build_admin() -> float:
    """Builds the admin panel of the fixture; the seconds that it took."""
    environment = {**os.environ, "NODE_ENV": "production", "STRAPI_TELEMETRY_DISABLED": "true"}
    command = ["node", "node_modules/@strapi/strapi/bin/strapi.js", "build"]
    began = time.monotonic()
    subprocess.run(command, cwd=lab(), env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began
