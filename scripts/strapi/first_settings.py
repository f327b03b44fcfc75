"""`frontend-map init` with several tokens: the file passes `check`, and its sitemaps are right."""

import pathlib
import subprocess
import tempfile
import tomllib
from collections.abc import Callable
from typing import NamedTuple

from common.process import environment
from common.service import variables_of
from strapi import responses
from strapi.checks import Checks
from strapi.fixture import CUSTOM_TOKEN, FULL_TOKEN, READ_TOKEN, WRONG_TOKEN, Oracle
from strapi.service import ARTICLE, BASE, CATEGORY, HOMEPAGE, LANDING, PAGE, PRESS, Service

AUTHOR, KIND, NEWS = "api::author.author", "api::kind.kind", "api::news.news"
TEXT = "api::text.text"
# What the oracle knows, by the path that `init` should guess.
KNOWN = {
    ARTICLE: "/{locale}/articles/{slug}",
    CATEGORY: "/{locale}/categories/{slug}",
    HOMEPAGE: "/{locale}",
    PAGE: "/{locale}/pages/{slug}",
    LANDING: "/{locale}/landings/{slug}",
    PRESS: "/press-releases/{slug}",
}
OTHERS = {
    AUTHOR: "/authors/{slug}",
    KIND: "/kinds/{slug}",
    NEWS: "/news-items/{slug}",
    TEXT: "/{locale}/texts/{slug}",
}
FINE = "the settings are fine"
NO_URL = '# front_end_url = "https://www.example.com"\n'


class Case(NamedTuple):
    token: str
    arguments: list[str]
    templates: dict[str, str]
    # The locales in the file; one of them has no document.
    locales: list[str]


CASES = {
    "full access": Case(FULL_TOKEN, [], KNOWN | OTHERS, ["en", "de", "fr", "es"]),
    "custom": Case(
        CUSTOM_TOKEN, [], {uid: KNOWN[uid] for uid in (ARTICLE, LANDING)}, ["en", "de", "fr", "es"]
    ),
    "read-only": Case(READ_TOKEN, [f"--type={uid}" for uid in KNOWN], KNOWN, ["en", "de", "fr"]),
    "read-only with locales": Case(
        READ_TOKEN,
        [f"--type={ARTICLE}", "--locales=en,de,fr"],
        {ARTICLE: KNOWN[ARTICLE]},
        ["en", "de", "fr"],
    ),
}


def run(
    binary: pathlib.Path, folder: str, token: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    variables = environment(variables_of({"CMS__TOKEN": token}))
    command = [str(binary), *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)


def check_case(
    checks: Checks,
    binary: pathlib.Path,
    strapi: str,
    case: Case,
    name: str,
) -> str:
    """The text of the file, with the URL of the frontend filled in."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(binary, folder, case.token, "init", "--cms", strapi, *case.arguments)
        checks.equal(f"{name}: status", (done.returncode, done.stderr), (0, ""))
        if done.returncode:
            return ""
        file = pathlib.Path(folder, "frontend-map.toml")
        text = file.read_text(encoding="utf-8")
        print(f"{name}:\n{text}\n{done.stdout}", flush=True)
        checks.check(f"{name}: no token", case.token not in text + done.stdout)
        text = text.replace(NO_URL, NO_URL.removeprefix("# "))
        file.write_text(text, encoding="utf-8")
        checked = run(binary, folder, case.token, "check", "--strict")
        checks.equal(f"{name}: check", (checked.returncode, checked.stdout[:21]), (0, FINE))
        again = run(binary, folder, case.token, "init", "--cms", strapi, *case.arguments)
        checks.equal(f"{name}: a second time", again.returncode, 1)
        checks.equal(f"{name}: not overwritten", file.read_text(encoding="utf-8"), text)
    site = tomllib.loads(text)["site"][0]
    templates = {rule["content_type"]: rule["template"] for rule in site["rule"]}
    checks.equal(f"{name}: rules", templates, case.templates)
    checks.equal(f"{name}: locales", site["locales"], case.locales)
    checks.equal(f"{name}: base URL", site["front_end_url"], BASE)
    return text


def check_first_settings(
    checks: Checks,
    binary: pathlib.Path,
    strapi: str,
    oracle: Oracle,
    start: Callable[[str, str], Service],
) -> None:
    """`start` is given a token and the text of a settings file."""
    for token_name, case in CASES.items():
        name = f"init, {token_name}"
        if not (text := check_case(checks, binary, strapi, case, name)):
            continue
        # Whatever has written the file, a token that may only read is enough.
        service = start(READ_TOKEN, text)
        known = {uid: path for uid, path in case.templates.items() if uid in KNOWN}
        for uid, template in known.items():
            responses.check_sitemap(checks, service, oracle, "main", uid, template)
        if known == case.templates:
            responses.check_crawler_files(checks, service, oracle, "main", known)
        status, _, index = service.get("/sitemaps/main/sitemap.xml")
        checks.equal(f"{name}: index", status, 200)
        checks.equal(f"{name}: ends with status 0", service.stop(), 0)
    with tempfile.TemporaryDirectory() as folder:
        for token, expected in (
            (WRONG_TOKEN, "401 on /api/content-type-builder/content-types: the token is wrong"),
            (READ_TOKEN, "the token may not read the schema: name the content types"),
        ):
            done = run(binary, folder, token, "init", "--cms", strapi)
            checks.equal(f"init: {expected}: status", done.returncode, 1)
            checks.check(f"init: {expected}", expected in done.stderr, done.stderr)
        written = list(pathlib.Path(folder).iterdir())
        checks.equal("init: nothing is written where it fails", written, [])
