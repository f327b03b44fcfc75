#!/usr/bin/env python3
"""Checks docs/openapi.yaml with the tools that its users have.

openapi-typescript compiles it, and the types pass `tsc --strict` together with
`openapi/use.ts`. schemathesis sends generated requests, valid and invalid, to the demo, to a
service with tokens, to one with several hosts, pages outside the CMS and own paths of documents,
and to one whose CMS fails, and compares each response with the description.
Ends with status 1 when one of them finds a fault. Needs npm, and the packages of
requirements.txt.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

from builds.peers import Peer, front_end
from common.build import ROOT, TARGET
from common.client import get, until
from common.process import Process
from common.service import FRONTEND_MAP
from faults.service import Service

DESCRIPTION = ROOT / "docs/openapi.yaml"
FOLDER = ROOT / "scripts/openapi"
TYPES = TARGET / "openapi-types"
SETTINGS = ROOT / "config/demo/settings.toml"
CONTENT = ROOT / "config/demo/content.json"
# The field of own paths of the last rule, and pages outside the CMS.
OWN_PATHS = """
path_field = "customPath"
[[site.page]]
name = "contact"
path = { en = "/en/contact", de = "/de/kontakt" }
lastmod = 2024-03-06
[[site.page]]
name = "search"
path = "/{locale}/search"
sitemap = false
"""
CONTENT_TYPES = ["plugin::cms.article", "plugin::cms.page"]
HOST = "#/components/parameters/Host"
# Requests per operation and phase.
SHORT, LONG = 20, 2000
# A run of URL checks waits ten seconds for a page that does not respond.
MAX_SECONDS = 30
TOKEN = "a-token"
TOKENS = {
    "AUTH__VALIDATE_TOKEN": TOKEN,
    "AUTH__DRAFT_TOKEN": TOKEN,
    "HOOKS__SECRET": TOKEN,
}


class Target(NamedTuple):
    """A service that is tested."""

    name: str
    address: str
    # Of the CMS, which decides which statuses are no fault of the service.
    fails: bool = False
    token: str | None = None
    # Whether `/api/resolve` gets documents instead of pathnames.
    by_id: bool = False
    # The operations that are tested, as a regular expression.
    paths: str = ""


def run(*command: object, folder: pathlib.Path = ROOT) -> None:
    words = [str(word) for word in command]
    if subprocess.run(words, cwd=folder).returncode != 0:
        raise SystemExit(f"check_openapi: failed: {' '.join(words)}")


def check_types() -> None:
    """Compiles the description to TypeScript and that strictly."""
    TYPES.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "use.ts"):
        shutil.copy(FOLDER / name, TYPES)
    run("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent", folder=TYPES)
    binaries = TYPES / "node_modules/.bin"
    run(binaries / "openapi-typescript", DESCRIPTION, "--output", "schema.ts", folder=TYPES)
    options = ["--strict", "--target", "es2022", "--noUncheckedIndexedAccess"]
    run(binaries / "tsc", *options, "--noEmit", "schema.ts", "use.ts", folder=TYPES)
    print("types: compiled under --strict", flush=True)


def narrowed(description: dict[str, Any], by_id: bool) -> dict[str, Any]:
    """The description with the values that this service knows, where others are a 400.

    So a valid request must be accepted, and one with another site or type refused. `/api/resolve`
    takes a document with `by_id`, else a pathname: it refuses both.
    """
    # Nothing but IDNA says which texts are hosts, so `host` has no schema that tells what is a 400.
    names = ["Site", "Pathname", "ResponseLocale", "Status", "IfNoneMatch"]
    if by_id:
        names = ["Uid", "DocumentId", "DocumentLocale", "Status", "OptionalSite", "IfNoneMatch"]
    if by_id:
        # These lead to a pathname.
        for path in ("/api/get-content-type", "/api/frontend-url"):
            del description["paths"][path]["get"]["responses"]["200"]["links"]
    operation = description["paths"]["/api/resolve"]["get"]
    operation["parameters"] = [{"$ref": f"#/components/parameters/{name}"} for name in names]
    # `content` needs `validate=true`, which no schema of one parameter can say.
    operation = description["paths"]["/api/build-sitemap"]["get"]
    operation["parameters"].remove({"$ref": "#/components/parameters/Content"})
    misses = description["paths"]["/api/misses"]
    for operation in (description["paths"]["/api/get-content-type"]["get"], misses["delete"]):
        parameters = operation["parameters"]
        operation["parameters"] = [one for one in parameters if one.get("$ref") != HOST]
    schemas = description["components"]["schemas"]
    schemas["SiteKey"] = {"type": "string", "enum": ["main"]}
    schemas["ContentTypeUid"] = {"type": "string", "enum": CONTENT_TYPES}
    # One malformed item of a batch is no fault of the request.
    schemas["Batch"]["properties"]["documents"]["items"] = {}
    parameters = description["components"]["parameters"]
    parameters["PagesLocale"]["schema"] = {"type": "string", "enum": ["en", "de"]}
    for parameter in parameters.values():
        # schemathesis does not know `allowEmptyValue`.
        if parameter.get("allowEmptyValue"):
            parameter["schema"] = {"anyOf": [parameter["schema"], {"const": ""}]}
    return description


def options(target: Target) -> str:
    """The settings of schemathesis."""
    served = ["2xx", "3xx", "4xx", "501"]
    statuses = [*served, "502", "503", "504"] if target.fails else served
    # A generated body may be too long besides being invalid.
    refused = ["400", "401", "403", "404", "405", "408", "413", "414", "431", "5xx"]
    text = f"""
# HEAD and OPTIONS, which each route has, are described once for all.
[phases.coverage]
unexpected-methods = ["PUT", "DELETE", "PATCH", "TRACE"]

[checks]
max_response_time = {MAX_SECONDS}

[checks.not_a_server_error]
expected-statuses = {json.dumps(statuses)}

[checks.negative_data_rejection]
expected-statuses = {json.dumps(refused)}


# A document of another type is no fault of a batch: its result has a reason.
[[operations]]
include-name = ["GET /api/frontend-urls"]
checks.negative_data_rejection.expected-statuses = {json.dumps([*refused, "200", "304"])}

# Any body is accepted but that of a refresh that is not valid.
[[operations]]
include-name = ["POST /hooks/cms"]
checks.negative_data_rejection.expected-statuses = {json.dumps([*refused, "202"])}

[dictionaries.documents]
values = ["a1welcome", "a2moved", "a6cafe", "p1about", "p2soon", "p3noslug", "p4imprint"]

[dictionaries.pathnames]
values = ["/en/articles/welcome", "/de/ueber-uns", "/en//about/", "/en/nothing", "/fr/x", "/",
  "/en/company/about", "/de/kontakt", "/en/search/"]

[dictionaries.hosts]
values = ["example.com", "example.de%3A8080", "example.de:8080"]

[dictionaries.files]
values = [
  "index.xml", "sitemap.xml", "robots.txt", "plugin.cms.article-1.xml", "plugin.cms.page-2.xml",
  "pages-1.xml"
]

[parameters]
"query.documentId" = {{ dictionary = "documents", probability = 0.5 }}
"query.pathname" = {{ dictionary = "pathnames", probability = 0.5 }}
"path.host" = {{ dictionary = "hosts", probability = 0.5 }}
"path.file" = {{ dictionary = "files", probability = 0.5 }}
"""
    if target.token is None:
        return text
    names = ["draftToken", "validationToken", "webhookSecret"]
    return text + "".join(f'[auth.openapi.{name}]\nbearer = "{target.token}"\n' for name in names)


def check_service(target: Target, arguments: argparse.Namespace) -> None:
    """All checks of schemathesis, stateful links among them."""
    print(f"\n=== schemathesis: {target.name}", flush=True)
    # Without their tokens in the settings these are a 501 with and without a token.
    names = ["DELETE /api/misses", "POST /api/links"]
    with_token = ["--exclude-path=/hooks/cms", *(f"--exclude-name={name}" for name in names)]
    left_out = [] if target.token else with_token
    if target.paths:
        left_out.append(f"--include-path-regex={target.paths}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        description = json.loads(get(target.address, "/openapi.json").body)
        (folder / "openapi.json").write_text(json.dumps(narrowed(description, target.by_id)))
        (folder / "schemathesis.toml").write_text(options(target))
        run(
            pathlib.Path(sys.executable).parent / "schemathesis",
            f"--config-file={folder / 'schemathesis.toml'}",
            "run",
            folder / "openapi.json",
            f"--url=http://{target.address}",
            *left_out,
            "--checks=all",
            f"--max-examples={arguments.examples}",
            f"--seed={arguments.seed}",
            "--generation-database=none",
            "--continue-on-failure",
            "--no-color",
            folder=folder,
        )


@contextmanager
def demo() -> Iterator[Target]:
    with Process(FRONTEND_MAP, "demo") as process:
        line = process.line()
        while "http://" not in line:
            line = process.line()
        yield Target("the demo", line.split("http://")[1].split("/")[0].split()[0])


@contextmanager
def with_tokens(by_id: bool = False) -> Iterator[Target]:
    """The demo's content, resolved by documents, behind tokens."""
    name = "with tokens, resolved by documents" + (", by id" if by_id else "")
    peer = front_end()
    settings = SETTINGS.read_text().replace('"main"', '"main"\nresolve = "documents"')
    settings = settings.replace("127.0.0.1:8081", peer.address)
    with Service(settings, overrides=TOKENS | {"VALIDATION__REUSE_SECONDS": 0}) as service:
        path = "/api/resolve?site=main&pathname=/en/about"
        until(lambda: b"p1about" in service.get(path).body)
        yield Target(name, service.address, token=TOKEN, by_id=by_id)
    peer.stop()


def with_ids() -> AbstractContextManager[Target]:
    return with_tokens(by_id=True)


@contextmanager
def with_hosts() -> Iterator[Target]:
    """The demo's content with a host for each locale; no page of it can be requested."""
    hosts = '{ en = "http://example.com", de = "http://example.de:8080" }'
    settings = SETTINGS.read_text().replace('"main"', '"main"\nresolve = "documents"')
    settings = settings.replace('"http://127.0.0.1:8081"', hosts) + OWN_PATHS
    content = json.loads(CONTENT.read_text())
    own = {"p1about": "company/about", "p4imprint": "legal//imprint"}
    for row in content["plugin::cms.page"]:
        row["customPath"] = own.get(row["documentId"])
    paths = "^/(sitemaps/|api/(resolve|get-content-type|pages|problems|frontend-urls?$))"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "content.json")
        file.write_text(json.dumps(content))
        settings = settings.replace('# path = "content.json"', f'path = "{file}"')
        with Service(settings) as service:
            path = "/api/resolve?site=main&pathname=/en/company/about&host=example.com"
            until(lambda: b"p1about" in service.get(path).body)
            yield Target("with a host for each locale", service.address, paths=paths)


@contextmanager
def failing() -> Iterator[Target]:
    """A CMS that fails in another way each time."""
    responses = [
        (500, {}, b"{}"),
        (503, {"Retry-After": "3"}, b""),
        (200, {"Content-Type": "text/html"}, b"<html>"),
        (0, {}, b""),
        (200, {"Content-Type": "application/json"}, b'{"data":'),
        (401, {}, b"{}"),
    ]
    count = iter(range(sys.maxsize))
    peer = Peer(lambda _: responses[next(count) % len(responses)])
    cms = f'url = "http://{peer.address}"'
    settings = SETTINGS.read_text().replace('source = "files"', cms)
    settings = settings.replace('"main"', '"main"\nresolve = "documents"')
    with Service(settings, overrides=TOKENS) as service:
        yield Target("in front of a failing CMS", service.address, fails=True, token=TOKEN)
    peer.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help=f"{LONG} requests a phase: an hour")
    parser.add_argument("--examples", type=int, help="requests per operation and phase")
    parser.add_argument("--seed", type=int, default=1)
    names = ["types", "demo", "tokens", "ids", "hosts", "failing"]
    parser.add_argument("--only", choices=names)
    arguments = parser.parse_args()
    arguments.examples = arguments.examples or (LONG if arguments.long else SHORT)
    if arguments.only in (None, "types"):
        check_types()
    targets = [demo, with_tokens, with_ids, with_hosts, failing]
    for name, start in zip(names[1:], targets, strict=True):
        if arguments.only in (None, name):
            with start() as target:
                check_service(target, arguments)


if __name__ == "__main__":
    main()
