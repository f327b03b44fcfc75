"""Archives: the binary with what belongs to it, and its debug information."""

import io
import os
import pathlib
import tarfile
from collections.abc import Sequence

import deflate

from common.build import ROOT
from release.targets import BINARY_NAME, Target

# What an archive has from the repository, and under which name.
FILES = {
    "LICENSE-APACHE": "LICENSE-APACHE",
    "LICENSE-MIT": "LICENSE-MIT",
    "config/settings.example.toml": "settings.example.toml",
}
# Levels of libdeflate. The smallest takes a minute for debug information.
SMALLEST, GOOD, LARGE = 12, 9, 50_000_000
LINUX_FILES = {
    "packaging/systemd/frontend-map.service": "systemd/frontend-map.service",
    "packaging/systemd/frontend-map@.service": "systemd/frontend-map@.service",
}


def write(
    target: Target,
    binaries: pathlib.Path,
    accompanying: pathlib.Path,
    into: pathlib.Path,
    version: str,
) -> None:
    top = f"{BINARY_NAME}-{version}-{target.triple}"
    files = {f"{top}/{BINARY_NAME}": binaries / BINARY_NAME}
    names = FILES | (LINUX_FILES if target.is_linux else {})
    files |= {f"{top}/{name}": ROOT / source for source, name in names.items()}
    for file in sorted(accompanying.rglob("*")):
        if file.is_file():
            files[f"{top}/{file.relative_to(accompanying)}"] = file
    write_tar(into / f"{top}.tar.gz", files)
    debug = binaries / f"{BINARY_NAME}.debug"
    if debug.is_file():
        write_tar(into / f"{top}.debug.tar.gz", {f"{top}/{debug.name}": debug})


def write_tar(
    path: pathlib.Path, files: dict[str, pathlib.Path], folders: Sequence[str] = ()
) -> None:
    """The same bytes for the same files: sorted, of root, with the time of the commit. `folders`
    are empty.
    """
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in folders:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, seconds
            tar.addfile(entry)
        for name, file in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = file.stat().st_size, seconds
            entry.mode = 0o755 if file.name == BINARY_NAME else 0o644
            with file.open("rb") as content:
                tar.addfile(entry, content)
    path.write_bytes(compressed(whole.getvalue()))


def compressed(content: bytes) -> bytes:
    """As gzip, 3 % smaller than `gzip -9` writes it, without a time."""
    return bytes(deflate.gzip_compress(content, SMALLEST if len(content) < LARGE else GOOD))
