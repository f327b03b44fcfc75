#!/usr/bin/env python3
"""Seeds for the fuzz targets `router` and `cms_page`, from the corpora of the tests.

Writes one file a case into FOLDER/router and FOLDER/cms_page.
"""

import argparse
import json
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

from common.build import ROOT

CORPORA = ROOT / "tests/corpora"
# libFuzzer would cut longer ones.
MOST_BYTES = 4096
# Headers that matter to a route.
HEADERS = {
    "/api/build-sitemap": "Accept-Encoding: gzip\n",
    "/api/get-content-type": 'If-None-Match: "x"\nOrigin: https://admin.example.com\n',
}
MORE_REQUESTS = [
    "POST /hooks/cms\nHost: x\nAuthorization: Bearer s\n\n"
    '{"uid":"plugin::cms.article","entry":{"documentId":"a"}}',
    "GET /sitemaps/main/index.xml\nHost: x\n\n",
    "GET /sitemaps/main/robots.txt\nHost: x\n\n",
    "OPTIONS /api/frontend-url\nHost: x\nOrigin: https://admin.example.com\n"
    "Access-Control-Request-Method: GET\n\n",
    "GET /api/resolve?site=main&pathname=/en/articles/hello-world\nHost: x\n\n",
    "HEAD /livez\nHost: x\n\n",
]
PAGING = '"meta":{"pagination":{"page":1,"pageSize":100,"pageCount":1,"total":2}}'
MORE_ANSWERS = [
    '{"data":[{"id":1,"documentId":"a","slug":"x","locale":"en","publishedAt":"2024-03-06"},'
    '{"id":2,"documentId":"b","slug":"y","on":true,"locale":null,"publishedAt":null,'
    '"parent":{"slug":"z","parent":{"slug":"u"}}}],' + PAGING + "}",
    '{"data":[{"documentId":"a","slug":"\\ud800"},7,null,["x"],{"slug":{"a":[1,2]}}],'
    + PAGING
    + "}",
    '{"data":{"documentId":"a","slug":"x","locale":"en","parent":null},"meta":{}}',
    '{"data":null,"error":{"status":404,"name":"NotFoundError","message":"x","details":{}}}',
    '{"data":null,"error":{"status":400,"name":"ValidationError","message":"x",'
    '"details":{"key":"locale","path":"x","source":"query"}}}',
    '{"data":{"uid":"plugin::cms.article","schema":{"kind":"singleType","singularName":"article",'
    '"pluralName":"articles"}}}',
]


def cases(name: str) -> list[dict[str, Any]]:
    lines = (CORPORA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def requests() -> Iterator[str]:
    for case in cases("bad-inputs.jsonl") + cases("bad-inputs-own.jsonl"):
        target = case.get("request_target")
        if target is not None:
            headers = HEADERS.get(target.split("?")[0], "")
            yield f"{case.get('method', 'GET')} {target}\nHost: localhost\n{headers}\n"
    yield from MORE_REQUESTS


def answers() -> Iterator[str]:
    for case in cases("hostile-cms.jsonl"):
        body = case["reply"].get("body")
        if body:
            yield body if isinstance(body, str) else json.dumps(body)
    yield from MORE_ANSWERS


def write(folder: pathlib.Path, seeds: Iterable[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        bytes_ = seed.encode("utf-8", "surrogatepass")
        (folder / f"{number:04}").write_bytes(bytes_[:MOST_BYTES])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path)
    folder: pathlib.Path = parser.parse_args().folder
    write(folder / "router", requests())
    write(folder / "cms_page", answers())


if __name__ == "__main__":
    main()
