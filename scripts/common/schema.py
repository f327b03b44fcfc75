"""The structure of sitemap files, checked by `xmllint` (Debian: libxml2-utils)."""

import subprocess

from common.build import ROOT


def violations(schema: str, text: bytes) -> str:
    """What `tests/schemas` forbids in a file; empty: it is valid. The schema is `urlset` or
    `sitemapindex`."""
    relaxng = ROOT / f"tests/schemas/{schema}.rng"
    command = ["xmllint", "--noout", "--huge", "--relaxng", str(relaxng), "-"]
    done = subprocess.run(command, input=text, capture_output=True)
    return done.stderr.decode()[:2000] if done.returncode else ""
