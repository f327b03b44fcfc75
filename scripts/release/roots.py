"""Roots in which packages are tried: an empty one, and Debian's from `mmdebstrap`."""

import pathlib
import re
import shutil

from release.shell import must, run, step
from release.targets import BINARY_NAME, Target, version
from release.unit import SETTINGS, SITE, STATE, STORE, TOKEN, UNIT, check_unit

RELEASES = ("bullseye", "bookworm", "trixie")
ANSWER = '"collectionType":"plugin::cms.article"'


def prepare(target: Target, root: pathlib.Path, *, emulated: bool) -> list[str]:
    """What is put before a command in the root, so that this processor runs it."""
    if not emulated:
        return []
    emulator = shutil.which(target.emulator)
    must(emulator, f"{target.emulator} is not installed (Debian: qemu-user-static)")
    shutil.copy(str(emulator), root / target.emulator)
    return [f"/{target.emulator}"]


def files(root: pathlib.Path) -> set[str]:
    """All files and folders but those of the package manager itself."""
    own = re.compile(r"(var/lib/(dpkg|rpm)|var/cache|var/log|tmp|root|usr/lib/sysimage)(/|$)")
    found = (str(path.relative_to(root)) for path in root.rglob("*"))
    return {name for name in found if not own.match(name)}


def check_system(targets: list[Target], folder: pathlib.Path, work: pathlib.Path) -> None:
    native = next(one for one in targets if one.is_native)
    archive = folder / f"{BINARY_NAME}-{version()}-{native.triple}.tar.gz"
    deb = folder / f"{BINARY_NAME}_{version()}-1_{native.deb}.deb"
    rpm = folder / f"{BINARY_NAME}-{version()}-1.{native.rpm}.rpm"
    for release in RELEASES:
        step(f"Debian {release}: a root")
        root = work / release
        run("mmdebstrap", "--variant=minbase", "--quiet", release, root)
        print(f"  Debian {(root / 'etc/debian_version').read_text().strip()}", flush=True)
        check_archive(archive, root)
        check_deb(deb, root, work)
        if release == RELEASES[-1]:
            check_rpm(rpm, root)
    check_tools(deb, folder, work)


def check_archive(archive: pathlib.Path, root: pathlib.Path) -> None:
    step("archive: its binary runs there")
    run("tar", "xf", archive, "-C", root / "tmp", "--strip-components=1")
    must(ANSWER in run("chroot", root, f"/tmp/{BINARY_NAME}", "demo", "--once"), "no right answer")


def check_deb(deb: pathlib.Path, root: pathlib.Path, work: pathlib.Path) -> None:
    # systemd's, for the states of all services.
    (root / STATE).parent.mkdir(mode=0o700, exist_ok=True)
    before = files(root)
    step(".deb: installs, and has no settings yet")
    shutil.copy(deb, root / "first.deb")
    run("chroot", root, "dpkg", "--install", "/first.deb")
    shown = run("chroot", root, BINARY_NAME, "demo", "--once")
    must(ANSWER in shown, shown)
    check = ("chroot", root, BINARY_NAME, "--config", f"/{SETTINGS}", "check")
    must("site" in run(*check, "--offline", status=78), "no word about the site")
    check_unit(root)
    step(".deb: an upgrade keeps settings, secrets and store")
    shutil.copy(newer(deb, work), root / "second.deb")
    run("chroot", root, "dpkg", "--install", "/second.deb")
    must("0.9.9" in run("chroot", root, "dpkg-query", "--show", BINARY_NAME), "no upgrade")
    must((root / SETTINGS).read_text() == SITE, "the settings are lost")
    for kept in (TOKEN, STORE):
        must((root / kept).is_file(), f"{kept} is lost")
    step(".deb: a removal keeps them, a purge does not")
    run("chroot", root, "dpkg", "--remove", BINARY_NAME)
    must((root / SETTINGS).is_file(), "remove has removed the settings")
    run("chroot", root, "dpkg", "--purge", BINARY_NAME)
    for file in ("first.deb", "second.deb"):
        (root / file).unlink()
    remains = files(root) - before
    must(not remains, f"a purge leaves {sorted(remains)}")


def newer(deb: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """The same package with a later version."""
    folder = work / "newer"
    shutil.rmtree(folder, ignore_errors=True)
    run("dpkg-deb", "--raw-extract", deb, folder)
    control = folder / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", "Version: 0.9.9-1", control.read_text()))
    run("dpkg-deb", "--root-owner-group", "--build", "-Znone", folder, work / "newer.deb")
    return work / "newer.deb"


def check_rpm(rpm: pathlib.Path, root: pathlib.Path) -> None:
    if shutil.which("rpm") is None:
        print("SKIPPED: .rpm: rpm is not installed")
        return
    step(".rpm: installs, keeps changed settings, and is removed")
    command = ("rpm", "--root", root, "--nodeps")
    # The root has the packages of dpkg, of which rpm knows nothing.
    run(*command, "--install", rpm)
    shown = run("chroot", root, BINARY_NAME, "demo", "--once")
    must(ANSWER in shown, shown)
    must((root / UNIT).is_file(), "there is no unit")
    (root / SETTINGS).write_text(SITE)
    run(*command, "--upgrade", "--replacepkgs", rpm)
    must((root / SETTINGS).read_text() == SITE, "the settings are lost")
    run(*command, "--erase", BINARY_NAME)
    must(not (root / "usr/bin" / BINARY_NAME).exists(), "the binary stays")
    must((root / f"{SETTINGS}.rpmsave").is_file(), "the changed settings are lost")


def check_tools(deb: pathlib.Path, folder: pathlib.Path, work: pathlib.Path) -> None:
    if shutil.which("lintian") is None:
        print("SKIPPED: lintian is not installed")
    else:
        step("lintian: no error")
        for one in sorted(folder.glob("*.deb")):
            print(run("lintian", "--allow-root", "--fail-on=error", one).strip())
    if shutil.which("systemd-analyze") is None:
        print("SKIPPED: systemd-analyze is not installed")
        return
    step("systemd-analyze: verify, and an exposure of at most 1.5")
    units = work / "units"
    run("dpkg-deb", "--extract", deb, units)
    for name in ("frontend-map.service", "frontend-map@.service"):
        unit = units / "usr/lib/systemd/system" / name
        # The binary is not installed on this machine.
        own = units / "usr/bin" / BINARY_NAME
        unit.write_text(
            unit.read_text().replace("ExecStart=/usr/bin/frontend-map", f"ExecStart={own}")
        )
        run("systemd-analyze", "verify", "--man=no", unit)
        security = ("systemd-analyze", "security", "--offline=true", "--threshold=15")
        print(run(*security, "--no-pager", unit).strip().splitlines()[-1])
    if not pathlib.Path("/run/systemd/system").is_dir():
        print("SKIPPED: the sandbox of the unit: systemd does not run here")
