"""Settings and content of the small site that the commands load."""

import json

UID = "plugin::cms.article"
RESOLVE = "/api/get-content-type?site=main&pathname=/en/articles/hello-world"
LIST = f"/api/build-sitemap?site=main&contentType={UID}"

SITE = f"""
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en"]
[[site.rule]]
content_type = "{UID}"
template = "/{{locale}}/articles/{{slug}}"
"""
ENDPOINT = f"""
[[content_type]]
uid = "{UID}"
endpoint = "cms/articles"
"""
FILE_SOURCE = """
[cms]
source = "files"
path = "content.json"
"""


def frontend_url(document: str) -> str:
    """The target that asks for the URL of a document."""
    return f"/api/frontend-url?uid={UID}&documentId={document}"


def content(documents: int) -> str:
    """The text of a content file with so many articles, `d0` and on."""
    rows = [
        {"documentId": f"d{n}", "locale": "en", "slug": f"a-slug-of-usual-length-{n}"}
        for n in range(documents)
    ]
    return json.dumps({UID: rows})
