"""`frontend-map check` with several tokens and wrong settings: expected messages, as a table."""

import pathlib
import subprocess
import tempfile
from typing import NamedTuple

from strapi.checks import Checks
from strapi.fixture import CUSTOM_TOKEN, EXPIRED_TOKEN, FULL_TOKEN, READ_TOKEN, WRONG_TOKEN
from strapi.permissions import SCHEMA, Token
from strapi.service import ARTICLE, CATEGORY, HOMEPAGE, PAGE

KIND, NEWS, NOTE = "api::kind.kind", "api::news.news", "plugin::cms.hidden-note"
HEAD = """[cms]
url = "{url}"
[[site]]
key = "main"
locales = ["en"]
front_end_url = "https://x.example"
[[site.rule]]
content_type = "{uid}"
template = "{template}"
{more}
"""
# Nothing listens there.
DOWN = "http://127.0.0.1:9"
FINE = "the settings are fine: 1 site, 1 rule"
REFUSED = (
    "the token is wrong or has expired; create an API token in Strapi and set it as "
    "FRONTEND_MAP__CMS__TOKEN or in cms.token_file"
)
LIST = (
    "is a list (a relation to many or a repeatable component), which has no single value: "
    "use a relation to one"
)
VALUE = "a placeholder needs text, an integer or a date"


class Case(NamedTuple):
    """The expected text is the whole report, without its first line if there is more."""

    name: str
    uid: str
    template: str
    expected: str
    status: int = 1
    more: str = ""


def endpoint(uid: str, path: str) -> str:
    return f'[[content_type]]\nuid = "{uid}"\nendpoint = "{path}"'


def missing(name: str) -> str:
    return f"{KIND}: there is no field or relation `{name}`: correct the name"


def kind(name: str, template: str, expected: str, more: str = "") -> Case:
    return Case(name, KIND, template, expected, more=more)


BY_CATEGORY = "/{category.slug}/{slug}"
# Token, expected text and status for articles by category.
TOKENS = {
    "full access": (FULL_TOKEN, FINE, 0),
    "read-only": (READ_TOKEN, FINE, 0),
    "custom, without the relation": (
        CUSTOM_TOKEN,
        f"{ARTICLE}: the token may not read the relation `category` of {ARTICLE}: "
        f"grant find on {CATEGORY} to the token",
        1,
    ),
    "expired": (EXPIRED_TOKEN, f"{ARTICLE}: 401 on /api/articles: {REFUSED}", 1),
    "wrong": (WRONG_TOKEN, f"{ARTICLE}: 401 on /api/articles: {REFUSED}", 1),
    "none": (
        None,
        f"{ARTICLE}: 403 on /api/articles: no token is set; set FRONTEND_MAP__CMS__TOKEN or "
        "cms.token_file",
        1,
    ),
}
TOO_NARROW = Case(
    "pages",
    PAGE,
    "/{slug}",
    f"{PAGE}: 403 on /api/pages: grant find and findOne to the token",
)
SETTINGS = [
    Case(
        "irregular plural",
        NEWS,
        "/{slug}",
        f'{NEWS}: 404 on /api/newses: write [[content_type]] uid = "{NEWS}" with the endpoint of '
        "the type",
    ),
    Case(
        "irregular plural, endpoint set",
        NEWS,
        "/{slug}",
        f"{NEWS}: nothing to check: it has no published document",
        0,
        endpoint(NEWS, "news-items"),
    ),
    kind(
        "wrong endpoint",
        "/{slug}",
        f"{KIND}: 404 on /api/kin: correct the endpoint in [[content_type]] uid = "
        f'"{KIND}", or give the type routes in Strapi',
        endpoint(KIND, "kin"),
    ),
    Case(
        "type without routes",
        NOTE,
        "/{slug}",
        f"{NOTE}: 404 on /api/cms/hidden-notes: write [[content_type]] uid = "
        f'"{NOTE}" with the endpoint of the type',
    ),
    Case("single type", HOMEPAGE, "/{slug}", FINE, 0),
    Case("single type, one path", HOMEPAGE, "/home", FINE, 0),
    kind("misspelt field", "/{slugg}", missing("slugg")),
    kind("misspelt field of a relation", "/{category.slugg}", missing("category.slugg")),
    kind("misspelt relation", "/{categorie.slug}", missing("categorie")),
    kind("misspelt field of a component", "/{seo.slugg}", missing("seo.slugg")),
    kind(
        "misspelt in exclude_when", "/{slug}", missing("hiden"), "exclude_when = { hiden = true }"
    ),
    kind("misspelt in modified", "/{slug}", missing("edited"), 'modified = "edited"'),
    kind("misspelt in where", "/{slug}", missing("sektion"), 'where = { sektion = "a" }'),
    kind(
        "private",
        "/{secret}",
        f"{KIND}: `secret` is private, and Strapi never returns it: use another field, or remove "
        "`private` from its schema",
    ),
    kind("decimal", "/{price}", f"{KIND}: `price` is a decimal number: {VALUE}"),
    kind("boolean", "/{open}", f"{KIND}: `open` is a boolean: {VALUE}"),
    kind("JSON", "/{meta}", f"{KIND}: `meta` is JSON: {VALUE}"),
    kind(
        "relation itself",
        "/{category}",
        f"{KIND}: `category` is a relation, a component or media: name one of its fields, like "
        "`category.slug`",
    ),
    kind("to-many", "/{tags.slug}", f"{KIND}: `tags` {LIST}"),
    kind("to-many itself", "/{category.articles}", f"{KIND}: `category.articles` {LIST}"),
    kind("repeatable component", "/{links.slug}", f"{KIND}: `links` {LIST}"),
    kind(
        "dynamic zone",
        "/{zone.slug}",
        f"{KIND}: `zone` is a dynamic zone, which has no single value: use a field of the type or "
        "of a component",
    ),
    kind(
        "through a plain field",
        "/{slug.name}",
        f"{KIND}: `slug` is neither a relation nor a component, or it is private: a path cannot "
        "lead through it",
    ),
    kind("through a component", "/{seo.section.slug}/{slug}", FINE)._replace(status=0),
    kind("where over to-many", "/{slug}", FINE, 'where = { "tags.slug" = "category-3" }')._replace(
        status=0
    ),
    Case(
        "locale of a type that is not localized",
        ARTICLE,
        "/{author.locale}/{slug}",
        f"{ARTICLE}: `author.locale`: the content type of the related document is not localized: "
        "use another field",
    ),
    kind(
        "Strapi's id",
        "/{id}",
        f'- line 7, site "main", rule 1 ({KIND}): `{{id}}`: the `id` of Strapi changes at each '
        "publish; use `documentId` or another field",
    )._replace(status=78),
]


def absent(path: str, target: str) -> str:
    return f"{KIND}: the token may not read the relation `{path}` of {KIND}: grant find on {target}"


# The first document has nothing in front of the relation. With what the token may find.
HIDDEN = [
    (
        [KIND],
        kind(
            "relation in an empty component",
            "/{seo.section.slug}",
            absent("seo.section", "the content type that it leads to"),
            'where = { slug = "bare" }',
        ),
    ),
    (
        [KIND, CATEGORY],
        kind(
            "relation behind an empty one",
            "/{slug}",
            absent("tags.articles", f"{ARTICLE} to the token"),
            'where = { slug = "none" }\nexclude_when = { "tags.articles.slug" = "x" }',
        ),
    ),
]


def run(
    binary: pathlib.Path, url: str, token: str | None, case: Case, *flags: str
) -> tuple[str, int]:
    """The report and the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "settings.toml")
        text = HEAD.format(url=url, uid=case.uid, template=case.template, more=case.more)
        file.write_text(text, encoding="utf-8")
        environment = {"FRONTEND_MAP__CMS__TOKEN": token} if token else {}
        command = [str(binary), "--config", str(file), "check", "--strict", *flags]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    first, *rest = (done.stdout if done.stdout else done.stderr).strip().splitlines()
    return " / ".join(line for line in rest if line) or first, done.returncode


def check(checks: Checks, binary: pathlib.Path, strapi: str) -> None:
    """Compares each message, and prints all of them as a table in Markdown."""
    print("| token | case | message | status of `check --strict` |\n|---|---|---|---|")

    def row(name: str, token: str | None, case: Case, *flags: str, url: str = strapi) -> None:
        text, status = run(binary, url, token, case, *flags)
        print(f"| {name} | {case.name} | {text} | {status} |", flush=True)
        title = f"check: {name}: {case.name}"
        checks.equal(title, (text, status), (case.expected, case.status))
        checks.check(f"{title}: no token", token is None or token not in text)

    for name, (token, expected, status) in TOKENS.items():
        row(name, token, Case("articles by category", ARTICLE, BY_CATEGORY, expected, status))
    row("custom, too narrow", CUSTOM_TOKEN, TOO_NARROW)
    for uids, case in HIDDEN:
        custom = Token(strapi, case.name, [SCHEMA, *(f"{uid}.find" for uid in uids)])
        row("custom", custom.key, case)
    for case in SETTINGS:
        row("read-only", READ_TOKEN, case)
        if not case.expected.startswith(f"{NEWS}: 404"):
            row("full access", FULL_TOKEN, case)
    by_category = Case("articles by category", ARTICLE, BY_CATEGORY, "")
    offline = "the CMS was not queried (--offline): only the settings were checked"
    row("read-only", READ_TOKEN, by_category._replace(expected=offline, status=0), "--offline")
    down = "the content types are not checked: the CMS is not available: connection refused"
    case = by_category._replace(name="CMS down", expected=f"{down} (CMS at {DOWN})")
    row("read-only", READ_TOKEN, case, url=DOWN)
    throws = Case(
        "endpoint that fails", KIND, "/{slug}", "", more=endpoint(KIND, "lab/throw/Error")
    )
    grant = f"{KIND}: 403 on /api/lab/throw/Error: grant find and findOne to the token"
    row("read-only", READ_TOKEN, throws._replace(expected=grant))
    fails = f"{KIND}: the CMS is not available for {KIND}: it returned 500 (CMS at {strapi})"
    row("full access", FULL_TOKEN, throws._replace(expected=fails))
