"""The documents of the fixture, read from Strapi's database."""

import contextlib
import pathlib
import sqlite3
from typing import NamedTuple

from strapi.service import ARTICLE, CATEGORY, HOMEPAGE, LANDING, LOCALES, PAGE, PRESS

# The types with the field of own paths.
HAVE_OWN_PATHS = (LANDING, PRESS)
TABLES = {
    PRESS: "cms_press_releases",
    LANDING: "cms_landings",
    ARTICLE: "articles",
    CATEGORY: "categories",
    PAGE: "pages",
    HOMEPAGE: "homepages",
}


class Version(NamedTuple):
    """One version of a document; one that is not localized is in the first locale."""

    uid: str
    document: str
    locale: str
    is_localized: bool
    is_published: bool
    slug: str | None
    custom_path: str | None


def read(database: pathlib.Path) -> list[Version]:
    found = []
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for uid, table in TABLES.items():
            own = "custom_path" if uid in HAVE_OWN_PATHS else "NULL"
            rows = connection.execute(
                f"SELECT document_id, locale, published_at IS NOT NULL, slug, {own} FROM {table}"
            )
            for document, locale, is_published, slug, custom_path in rows:
                place = (locale or LOCALES[0], locale is not None, bool(is_published))
                found.append(Version(uid, document, *place, slug, custom_path))
    return found
