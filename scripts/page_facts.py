#!/usr/bin/env python3
"""Writes `tests/corpora/pages.jsonl`: hostile HTML with what Chromium's DOM says of it.

Serves each page on loopback, opens it in a frame of headless Chromium, where scripting is enabled,
and reads title, language, base, canonical links, robots directives and links to languages from the
document. A test of `crates/outbound` compares what the service reads from the same bytes. With
`--random N`, N pages of random tags are added, the same ones for the same `--seed`.
"""

import argparse
import base64
import http.server
import json
import os
import pathlib
import random
import re
import subprocess
import threading

FILE = pathlib.Path(__file__).resolve().parent.parent / "tests/corpora/pages.jsonl"
CHROMIUM = os.environ.get("CHROMIUM", "chromium")
UTF8 = "text/html; charset=utf-8"
UNDECLARED = "text/html"

CANONICAL = '<link rel="canonical" href="https://a.example/x">'
NOINDEX = '<meta name="robots" content="noindex">'

PAGES: list[tuple[str, str, str | bytes]] = [
    (
        "plain",
        UTF8,
        f"<!doctype html><html lang=en><head><title>A</title>{CANONICAL}</head><body>x",
    ),
    ("ten canonicals", UTF8, "".join(f'<link rel=canonical href="/{n}">' for n in range(10))),
    ("noscript in head", UTF8, f"<head><noscript>{CANONICAL}{NOINDEX}</noscript><title>A</title>"),
    ("noscript after head", UTF8, f"<head></head><noscript>{NOINDEX}</noscript>{CANONICAL}<p>"),
    ("noscript in body", UTF8, f"<body><noscript>{NOINDEX}</noscript>"),
    (
        "comments",
        UTF8,
        f"<!-- {CANONICAL} --><!--> {CANONICAL} <!---> {NOINDEX}<!-- a --!> {CANONICAL}",
    ),
    ("open comment", UTF8, f"<title>a</title><!-- {CANONICAL}"),
    ("bogus comments", UTF8, f"<?xml {CANONICAL} ?><!x {NOINDEX}></ {CANONICAL}>{CANONICAL}"),
    ("cdata in html", UTF8, f"<![CDATA[ {CANONICAL} ]]>{NOINDEX}"),
    ("cdata in svg", UTF8, f"<body><svg><![CDATA[ {NOINDEX} ]]></svg>{NOINDEX}"),
    (
        "template",
        UTF8,
        f"<head><template>{CANONICAL}{NOINDEX}<title>t</title></template><title>A</title>",
    ),
    ("template keeps head", UTF8, f"<template><div>x</div>text</template>{CANONICAL}"),
    ("nested templates", UTF8, f"<template><template></template>{NOINDEX}</template>{CANONICAL}"),
    ("open template", UTF8, f"<head><template>{CANONICAL}</head><body>{NOINDEX}"),
    (
        "stray template end",
        UTF8,
        f"</template>{CANONICAL}<template></template></template>{NOINDEX}",
    ),
    ("template in svg", UTF8, f"<svg><template>{NOINDEX}</template></svg>{NOINDEX}"),
    ("svg title", UTF8, "<body><svg><title>icon</title></svg><title>late</title>"),
    ("svg link", UTF8, f"<body><svg>{CANONICAL}<style><link></style></svg>{NOINDEX}"),
    (
        "svg meta breaks out",
        UTF8,
        f"<body><svg><g>{NOINDEX}</g><title>x</title></svg><title>y</title>",
    ),
    ("svg style has tags", UTF8, f"<body><svg><style>{NOINDEX}</style></svg>"),
    ("svg script", UTF8, f"<body><svg><script>{NOINDEX}</script></svg>{NOINDEX}"),
    ("svg self-closing", UTF8, "<svg/><title>late</title>"),
    ("svg title self-closing", UTF8, "<svg><title/><title>in</title></svg><title>out</title>"),
    (
        "svg foreignObject",
        UTF8,
        f"<svg><foreignObject>{NOINDEX}<title>t</title></foreignObject><title>u",
    ),
    ("svg desc", UTF8, f"<svg><desc><title>d</title></desc></svg>{CANONICAL}"),
    ("svg font breaks out", UTF8, "<svg><font color=red><title>t</title></svg>"),
    ("svg font stays", UTF8, "<svg><font><title>t</title></font></svg><title>u</title>"),
    ("svg end p", UTF8, "<svg></p><title>t</title>"),
    ("svg end body", UTF8, "<svg><title>a</body></title></svg><title>b</title>"),
    ("math text", UTF8, "<math><mi><title>t</title></mi></math>"),
    ("math annotation", UTF8, '<math><annotation-xml encoding="text/html"><title>t</title>'),
    (
        "math annotation svg",
        UTF8,
        "<math><annotation-xml><svg><title>t</title></svg></math><title>u</title>",
    ),
    ("math title", UTF8, "<math><title>t</title></math><title>u</title>"),
    ("script text", UTF8, f"<script>var a = '{CANONICAL}';</script>{NOINDEX}"),
    (
        "script double escape",
        UTF8,
        f"<script><!-- <script> </script> {CANONICAL} --></script>{NOINDEX}",
    ),
    ("open script", UTF8, f"<title>a</title><script>{CANONICAL}"),
    ("style text", UTF8, f"<style>{CANONICAL}</style>{NOINDEX}"),
    ("textarea", UTF8, f"<body><textarea>{NOINDEX}</textarea>"),
    ("iframe", UTF8, f"<body><iframe>{NOINDEX}</iframe>"),
    ("xmp", UTF8, f"<xmp>{NOINDEX}</xmp>"),
    ("noframes", UTF8, f"<noframes>{NOINDEX}</noframes>{CANONICAL}"),
    ("noembed", UTF8, f"<body><noembed>{NOINDEX}</noembed>"),
    ("plaintext", UTF8, f"<body><plaintext>{NOINDEX}</plaintext>"),
    ("title text", UTF8, f"<title>{CANONICAL} &amp; &eacute; </title>{NOINDEX}"),
    ("open title", UTF8, f"<title>{CANONICAL}"),
    ("two titles", UTF8, "<title>a</title><title>b</title>"),
    ("empty title", UTF8, "<title></title><title>b</title>"),
    ("title in body", UTF8, "<body><div><title>a</title></div>"),
    ("canonical in body", UTF8, f"<body>{CANONICAL}"),
    ("text ends head", UTF8, f"<head>text{CANONICAL}"),
    ("blank does not end head", UTF8, f"<head> \n\t{CANONICAL}"),
    ("nbsp ends head", UTF8, f"<head>&nbsp;{CANONICAL}"),
    ("div ends head", UTF8, f"<head><div></div>{CANONICAL}</head>"),
    ("img ends head", UTF8, f'<head><img src="data:,">{CANONICAL}'),
    ("end br ends head", UTF8, f"<head></br>{CANONICAL}"),
    ("end p does not end head", UTF8, f"<head></p></div>{CANONICAL}"),
    ("end body ends head", UTF8, f"<head></body>{CANONICAL}"),
    ("after head", UTF8, f"<head></head>{CANONICAL}{NOINDEX}<body>"),
    ("text after head", UTF8, f"<head></head> {CANONICAL}x{CANONICAL}"),
    ("after body", UTF8, f"<body></body></html>{CANONICAL}{NOINDEX}"),
    ("frameset", UTF8, f"<frameset><frame></frameset>{CANONICAL}"),
    ("second head", UTF8, f"<body><head>{CANONICAL}</head>"),
    (
        "attributes twice",
        UTF8,
        '<link rel=canonical href="/a" href="/b" rel=x><html lang=de lang=en>',
    ),
    ("upper case", UTF8, '<LINK REL="CANONICAL" HREF="/A"><META NAME="ROBOTS" CONTENT="NOINDEX">'),
    ("words in rel", UTF8, '<link rel="\n alternate\tCanonical " hreflang=de href=/a>'),
    ("entities", UTF8, '<link rel=canon&#105;cal href="/a?b=1&amp;c=2&copy=3&notit;&lt">'),
    ("unquoted", UTF8, "<link rel=canonical href=/a/><link rel=canonical href=/b/ >"),
    ("odd quotes", UTF8, '<link rel=\'canonical\' href=\'/a"b\'><link rel="canonical"href="/c">'),
    ("slashes", UTF8, "<link/rel=canonical/href=/a><meta/name=robots/content=none/>"),
    ("equals", UTF8, "<link =rel=canonical href==/a><link rel = canonical href = /b>"),
    ("open tag", UTF8, f"<title>a</title>{CANONICAL[:-1]}"),
    ("open quote", UTF8, f'<link rel=canonical href="/a>{CANONICAL}'),
    (
        "null",
        UTF8,
        "<link rel=canonical href='/a\0b'><title>a\0b</title>\0<link rel=canonical href=/c>",
    ),
    (
        "empty href",
        UTF8,
        '<link rel=canonical href=""><link rel=canonical href=" "><link rel=canonical>',
    ),
    ("href spaces", UTF8, '<link rel=canonical href=" /a\n">'),
    ("lines", UTF8, "<title>a\r\nb\rc</title><link rel=canonical href='/a\r\nb'>"),
    ("base", UTF8, "<base target=x><base href=/b/><base href=/c/><link rel=canonical href=a>"),
    ("base in body", UTF8, "<link rel=canonical href=a><body><base href=/b/>"),
    ("base in template", UTF8, "<template><base href=/a/></template><base href=/b/>"),
    ("html twice", UTF8, "<html><body><html lang=de><html lang=en>"),
    ("html in template", UTF8, "<template><html lang=de></template>"),
    ("empty lang", UTF8, '<html lang=""><html lang=de>'),
    (
        "alternates",
        UTF8,
        "<link rel=alternate hreflang=de href=/de><link rel=alternate href=/feed>"
        "<link rel=alternate hreflang='x-default' href=/>"
        "<body><link rel=alternate hreflang=fr href=/fr>",
    ),
    (
        "robots",
        UTF8,
        "<meta name=' robots ' content=a><meta name=googlebot content=b>"
        "<meta content=c name=ROBOTS>"
        "<meta name=bingbot content=d><meta property=robots content=e><meta name=robots>",
    ),
    ("meta in body", UTF8, f"<body><p>{NOINDEX}<table>{NOINDEX}</table><ul><li>{NOINDEX}"),
    ("utf-8 mark", UNDECLARED, b"\xef\xbb\xbf<title>\xc3\xa9</title>" + CANONICAL.encode()),
    (
        "utf-16le mark",
        UNDECLARED,
        "\ufeff<title>é€</title>".encode("utf-16-le") + CANONICAL.encode("utf-16-le"),
    ),
    (
        "utf-16be mark",
        UTF8,
        "\ufeff<title>é€</title>".encode("utf-16-be") + CANONICAL.encode("utf-16-be"),
    ),
    ("utf-16le header", "text/html; charset=utf-16le", "<title>é€</title>".encode("utf-16-le")),
    ("latin1 header", "text/html; charset=iso-8859-1", b"<title>\xe9\x80</title>"),
    ("latin1 meta", UNDECLARED, b"<meta charset=latin1><title>\xe9\x80</title>"),
    (
        "latin1 http-equiv",
        UNDECLARED,
        b"<meta http-equiv=Content-Type content='text/html; charset=windows-1252'>"
        b"<title>\xe9</title>",
    ),
    ("utf-8 meta", UNDECLARED, b"<meta charset='utf-8'><title>\xc3\xa9</title>"),
    ("utf-16 meta is utf-8", UNDECLARED, b"<meta charset=utf-16><title>\xc3\xa9</title>"),
    ("malformed utf-8", UTF8, b"<title>\xc3(\xff</title>" + CANONICAL.encode()),
    ("shift_jis header", "text/html; charset=shift_jis", b"<body>\x82\xa0" + NOINDEX.encode()),
    ("deep", UTF8, "<div>" * 3000 + NOINDEX),
    ("formatting", UTF8, "".join(f"<b a={n}>" for n in range(300)) + "<p>" * 300 + NOINDEX),
    ("table", UTF8, f"<table>{CANONICAL}<tr>{NOINDEX}<td><title>t</title></table>"),
    ("empty", UTF8, ""),
    ("no html", UTF8, "just text"),
]

PARTS = [
    "<html lang=de>",
    "<head>",
    "</head>",
    "<body>",
    "</body>",
    "</html>",
    "<title>",
    "</title>",
    "t",
    " ",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<template>",
    "</template>",
    "<svg>",
    "</svg>",
    "<g>",
    "</g>",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<noscript>",
    "</noscript>",
    "<!--",
    "-->",
    "<link rel=canonical href=/a>",
    '<link rel="canonical" href="/b"/>',
    "<meta name=robots content=none>",
    "<link rel=alternate hreflang=de href=/de>",
    "<base href=/x/>",
    "<desc>",
    "</desc>",
    "&amp;",
    "<br>",
    "<textarea>",
    "</textarea>",
    "<math>",
    "</math>",
    "<mi>",
    "</mi>",
    "<a>",
    "</a>",
    "<b>",
    "</b>",
    "]]>",
]

WRAPPER = """<!doctype html><meta charset=utf-8><pre id=out></pre><script>
const HTML = "http://www.w3.org/1999/xhtml";
function facts(page) {
  const all = (name) =>
    [...page.getElementsByTagName(name)].filter((one) => one.namespaceURI === HTML);
  const inHead = (one) => Boolean(page.head && page.head.contains(one));
  const words = (one) => (one.getAttribute("rel") ?? "").toLowerCase().split(/[\\t\\n\\f\\r ]+/);
  const has = (one, word) => words(one).includes(word);
  const links = all("link").filter((one) => (one.getAttribute("href") ?? "").trim());
  const canonicals = links.filter((one) => has(one, "canonical"));
  const robots = all("meta").filter((one) =>
    ["robots", "googlebot"].includes((one.getAttribute("name") ?? "").trim().toLowerCase()));
  const alternates = links.filter((one) => has(one, "alternate") && one.hasAttribute("hreflang"));
  const href = (one) => one.getAttribute("href");
  return {
    title: all("title")[0]?.textContent ?? null,
    lang: page.documentElement.getAttribute("lang"),
    base: all("base").map(href).find((one) => one !== null) ?? null,
    canonicals: canonicals.filter(inHead).map(href),
    hasCanonicalInBody: canonicals.some((one) => !inHead(one)),
    robots: robots.map((one) => one.getAttribute("content")).filter((one) => one !== null),
    alternates: alternates.filter(inHead).map((one) => [one.getAttribute("hreflang"), href(one)]),
  };
}
(async () => {
  const found = [];
  for (let at = 0; at < COUNT; at += 1) {
    const frame = document.createElement("iframe");
    frame.src = `/page/${at}`;
    const loaded = new Promise((resolve) => { frame.onload = resolve; });
    document.body.append(frame);
    await loaded;
    found.push(facts(frame.contentDocument));
    frame.remove();
  }
  await fetch("/facts", { method: "POST", body: JSON.stringify(found) });
})();
</script>"""


def random_pages(count: int, seed: int) -> list[tuple[str, str, str | bytes]]:
    chance = random.Random(seed)
    return [
        (f"random {seed}.{n}", UTF8, "".join(chance.choices(PARTS, k=chance.randint(3, 18))))
        for n in range(count)
    ]


def ask_chromium(pages: list[tuple[str, str, bytes]]) -> list[dict[str, object]]:
    answers: list[list[dict[str, object]]] = []
    arrived = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at = re.fullmatch(r"/page/(\d+)", self.path)
            if at:
                _, media_type, body = pages[int(at[1])]
            else:
                known = self.path == "/"
                media_type = UTF8
                body = WRAPPER.replace("COUNT", str(len(pages))).encode() if known else b""
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            answers.append(json.loads(self.rfile.read(length)))
            self.send_response(204)
            self.end_headers()
            arrived.set()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-port=0",
        url,
    ]
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        if not arrived.wait(300):
            raise SystemExit("Chromium sent no facts")
    finally:
        browser.kill()
        browser.wait()
        server.shutdown()
    return answers[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--random", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    options = parser.parse_args()
    texts = PAGES + random_pages(options.random, options.seed)
    pages = [
        (name, media_type, body if isinstance(body, bytes) else body.encode())
        for name, media_type, body in texts
    ]
    with options.out.open("w") as file:
        for (name, media_type, body), facts in zip(pages, ask_chromium(pages), strict=True):
            try:
                content = {"html": body.decode()}
            except UnicodeDecodeError:
                content = {"base64": base64.b64encode(body).decode()}
            row = {"name": name, "contentType": media_type, **content, "facts": facts}
            file.write(json.dumps(row, ensure_ascii=True) + "\n")
    print(f"{len(pages)} pages in {options.out}")


if __name__ == "__main__":
    main()
