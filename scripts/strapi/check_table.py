"""Runs `check` with seven tokens and twenty wrong settings on a real Strapi, and prints a table.

    python3 scripts/strapi/check_table.py BINARY STRAPI_URL

The Strapi is the fixture of `tests/strapi` with one document of `api::kind.kind`.
"""

import pathlib
import subprocess
import sys
import tempfile

READ = "lab-read-only-token"
HEAD = '[cms]\nurl = "{url}"\n[[site]]\nkey = "main"\nlocales = ["en"]\nfront_end_url = "https://x.example"\n'
RULE = '[[site.rule]]\ncontent_type = "{uid}"\n{lines}\n'
ARTICLE = ("api::article.article", 'template = "/{category.slug}/{slug}"')
TOKENS = {
    "full access": "lab-full-access-token",
    "read-only": READ,
    "custom without the relation": "lab-custom-token",
    "expired": "lab-expired-token",
    "wrong": "no-such-token",
    "missing": None,
}


def kind(template: str, more: str = "") -> tuple[str, str]:
    return "api::kind.kind", f'template = "{template}"\n{more}'


WRONG = {
    "irregular plural": ("api::news.news", 'template = "/{slug}"'),
    "irregular plural, endpoint set": (
        "api::news.news",
        'template = "/{slug}"\n[[content_type]]\nuid = "api::news.news"\nendpoint = "news-items"',
    ),
    "wrong endpoint": (
        "api::kind.kind",
        'template = "/{slug}"\n[[content_type]]\nuid = "api::kind.kind"\nendpoint = "kin"',
    ),
    "type without routes": ("plugin::cms.hidden-note", 'template = "/{slug}"'),
    "single type": ("api::homepage.homepage", 'template = "/{slug}"'),
    "endpoint that fails": (
        "api::kind.kind",
        'template = "/{slug}"\n[[content_type]]\nuid = "api::kind.kind"\n'
        'endpoint = "lab/throw/Error"',
    ),
    "misspelt field": kind("/{slugg}"),
    "misspelt field of a relation": kind("/{category.slugg}"),
    "misspelt relation": kind("/{categorie.slug}"),
    "misspelt field of a component": kind("/{seo.slugg}"),
    "misspelt in exclude_when": kind("/{slug}", "exclude_when = { hiden = true }"),
    "misspelt in modified": kind("/{slug}", 'modified = "edited"'),
    "misspelt in where": kind("/{slug}", 'where = { sektion = "a" }'),
    "private": kind("/{secret}"),
    "decimal": kind("/{price}"),
    "boolean": kind("/{open}"),
    "JSON": kind("/{meta}"),
    "relation itself": kind("/{category}"),
    "to-many": kind("/{tags.slug}"),
    "repeatable component": kind("/{links.slug}"),
    "dynamic zone": kind("/{zone.slug}"),
    "through a plain field": kind("/{slug.name}"),
    "Strapi's id": kind("/{id}"),
}


def check(
    binary: str, url: str, token: str | None, rule: tuple[str, str], *flags: str
) -> tuple[int, str]:
    uid, lines = rule
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "settings.toml")
        file.write_text(HEAD.format(url=url) + RULE.format(uid=uid, lines=lines))
        environment = {"FRONTEND_MAP__CMS__TOKEN": token} if token else {}
        command = [binary, "--config", str(file), "check", *flags]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    lines_out = [line for line in done.stdout.splitlines()[1:] if line]
    text = " / ".join(lines_out) or done.stdout.strip()
    if done.returncode == 78:
        text = done.stderr.strip().splitlines()[-1]
    return done.returncode, text


def main() -> None:
    binary, url = sys.argv[1:]
    print("| token | case | status of `check --strict` | message |\n|---|---|---|---|")
    for name, token in TOKENS.items():
        status, text = check(binary, url, token, ARTICLE, "--strict")
        print(f"| {name} | article by category | {status} | {text} |")
    too_narrow = ("api::page.page", 'template = "/{slug}"')
    status, text = check(binary, url, TOKENS["custom without the relation"], too_narrow, "--strict")
    print(f"| custom, too narrow | page | {status} | {text} |")
    for name, rule in WRONG.items():
        for token in ("read-only", "full access"):
            status, text = check(binary, url, TOKENS[token], rule, "--strict")
            print(f"| {token} | {name} | {status} | {text} |")
    status, text = check(binary, url, READ, ARTICLE, "--strict", "--offline")
    print(f"| read-only | --offline | {status} | {text} |")
    status, text = check(binary, "http://127.0.0.1:9", READ, ARTICLE, "--strict")
    print(f"| read-only | CMS down | {status} | {text} |")


if __name__ == "__main__":
    main()
