#!/usr/bin/env python3
"""Seeds for the fuzz targets `router` and `cms_page`, from the corpora of the tests.

    scripts/fuzz_seeds.py FOLDER

Writes one file a case into FOLDER/router and FOLDER/cms_page.
"""

import json
import pathlib
import sys

CORPORA = pathlib.Path(__file__).resolve().parent.parent / "tests/corpora"
HEADERS = {
    "/api/build-sitemap": "Accept-Encoding: gzip\n",
    "/api/get-content-type": 'If-None-Match: "x"\nOrigin: https://admin.example.com\n',
}
OWN = [
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
OWN_ANSWERS = [
    '{"data":[{"id":1,"documentId":"a","slug":"x","locale":"en","publishedAt":"2024-03-06"},'
    '{"id":2,"documentId":"b","slug":"y","on":true,"locale":null,"publishedAt":null,'
    '"parent":{"slug":"z","parent":{"slug":"u"}}}],' + PAGING + "}",
    '{"data":[{"documentId":"a","slug":"\\ud800"},7,null,["x"],{"slug":{"a":[1,2]}}],' + PAGING + "}",
    '{"data":{"documentId":"a","slug":"x","locale":"en","parent":null},"meta":{}}',
    '{"data":null,"error":{"status":404,"name":"NotFoundError","message":"x","details":{}}}',
    '{"data":null,"error":{"status":400,"name":"ValidationError","message":"x",'
    '"details":{"key":"locale","path":"x","source":"query"}}}',
    '{"data":{"uid":"plugin::cms.article","schema":{"kind":"singleType","singularName":"article",'
    '"pluralName":"articles"}}}',
]


def rows(name):
    return [json.loads(line) for line in (CORPORA / name).read_text().splitlines() if line]


def requests():
    for row in rows("bad-inputs.jsonl") + rows("bad-inputs-own.jsonl"):
        target = row.get("request_target")
        if target is not None:
            more = HEADERS.get(target.split("?")[0], "")
            yield f"{row.get('method', 'GET')} {target}\nHost: localhost\n{more}\n"
    yield from OWN


def answers():
    for row in rows("hostile-cms.jsonl"):
        body = row["reply"].get("body")
        if body:
            yield body if isinstance(body, str) else json.dumps(body)
    yield from OWN_ANSWERS


def write(folder, seeds):
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f"{number:04}").write_bytes(seed.encode("utf-8", "surrogatepass")[:4096])


def main():
    folder = pathlib.Path(sys.argv[1])
    write(folder / "router", requests())
    write(folder / "cms_page", answers())


if __name__ == "__main__":
    main()
