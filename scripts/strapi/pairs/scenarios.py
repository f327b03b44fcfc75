"""What the pairs are about: each scenario makes a draft in a world, and names the click."""

from collections.abc import Callable

from strapi.pairs.content import LETTERS, LOCALES, MANY, Version, World
from strapi.service import ARTICLE, CATEGORY, LANDING, PAGE, PRESS

Click = tuple[Version, str]
ENGLISH = LOCALES[0]
WITHDRAWALS = ("unpublish", "delete")


def known(world: World) -> list[str]:
    return sorted({path for path in world.paths().values() if path})


def category_with(world: World, count: int) -> Version:
    """A category with so many articles."""
    category, _ = world.categories(locales=0.5)
    for at in range(count):
        locales = 0 if count > len(LETTERS) else 0.5
        world.create(ARTICLE, {"slug": f"s{at:02}", "category": category}, 1, locales)
    return Version(CATEGORY, category, ENGLISH)


def articles_move(world: World, count: int) -> Click:
    version = category_with(world, count)
    paths = known(world)
    if world.likely(0.5):
        world.redirect(world.random.choice(paths), paths)
    slug = f"{world.name}-{world.random.choice('efg')}"
    if world.likely(0.3):
        world.create(LANDING, {"slug": world.slug(), "customPath": f"{slug}/s01"})
    world.save(version, slug=slug)
    return version, "publish"


def many_articles_move(world: World) -> Click:
    return articles_move(world, MANY)


def few_articles_move(world: World) -> Click:
    return articles_move(world, world.random.randrange(1, 4))


def many_articles_end(world: World) -> Click:
    version = category_with(world, MANY + world.random.randrange(2))
    paths = known(world)
    if world.likely(0.5):
        world.redirect(world.random.choice(paths), paths)
    return version, world.random.choice(WITHDRAWALS)


def articles_share_a_path(world: World) -> Click:
    category, _ = world.categories()
    slugs = world.random.sample(LETTERS, 2)
    world.create(ARTICLE, {"slug": slugs[0], "category": category})
    other = world.create(ARTICLE, {"slug": slugs[1], "category": category}, published=0.5)
    version = Version(ARTICLE, other, ENGLISH)
    world.save(version, slug=slugs[0])
    return version, "publish"


def landing_page_has_a_path_too(world: World) -> Click:
    """That of a category, of an article or of a page: by its slug, or as its own path."""
    category, _ = world.categories()
    world.create(ARTICLE, {"slug": "a", "category": category}, published=0.7)
    world.create(PAGE, {"slug": world.page(0)}, published=0.7)
    path = world.random.choice(known(world))
    landing = world.create(LANDING, {"slug": f"{world.name}-z", "customPath": None}, published=0.5)
    version = Version(LANDING, landing, ENGLISH)
    if path.count("/") == 2 and world.likely(0.3):
        world.save(version, slug=path.rpartition("/")[2])
    else:
        world.save(version, customPath=path.removeprefix(f"/{ENGLISH}/"))
    return version, "publish"


def any_page(world: World) -> tuple[Version, str]:
    """A published document of any type, and its path."""
    uid = world.random.choice([ARTICLE, CATEGORY, LANDING, PAGE, PRESS])
    category = world.categories()[0]
    data: dict[str, object] = {"slug": f"{world.name}-h"}
    if uid == ARTICLE:
        data["category"] = category
    document = category if uid == CATEGORY else world.create(uid, data)
    version = Version(uid, document, ENGLISH)
    return version, str(world.paths()[version])


def old_path_has_a_redirect(world: World) -> Click:
    version, path = any_page(world)
    world.redirect(path, known(world), force=0.1)
    world.save(version, slug=f"{world.name}-i")
    return version, "publish"


def new_path_has_a_redirect(world: World) -> Click:
    version, path = any_page(world)
    slug = f"{world.name}-i"
    world.redirect(f"{path.rpartition('/')[0]}/{slug}", known(world))
    world.save(version, slug=slug)
    return version, "publish"


def withdrawn_page_has_a_redirect(world: World) -> Click:
    version, path = any_page(world)
    # A redirect with `force` has hidden the page before.
    world.redirect(path, known(world), force=0.1)
    return version, world.random.choice(WITHDRAWALS)


def parents_are_drafts(world: World) -> Click:
    """Of three pages in a row, or of an article and its category."""
    if world.likely(0.4):
        category = world.create(CATEGORY, {"slug": world.slug()}, published=0)
        article = world.create(ARTICLE, {"slug": "a", "category": category}, published=0)
        return Version(ARTICLE, article, ENGLISH), "publish"
    top = world.create(PAGE, {"slug": world.page(0)}, published=0.5)
    middle = world.create(PAGE, {"slug": world.page(1), "parent": top}, published=0)
    last = world.create(PAGE, {"slug": world.page(2), "parent": middle}, published=0.5)
    return Version(PAGE, last, ENGLISH), "publish"


def parent_is_published_later(world: World) -> Click:
    """Than a page below it, or than an article of a category."""
    if world.likely(0.5):
        category = world.create(CATEGORY, {"slug": world.slug()}, published=0)
        world.create(ARTICLE, {"slug": "a", "category": category})
        return Version(CATEGORY, category, ENGLISH), "publish"
    top = world.create(PAGE, {"slug": world.page(0)}, published=0)
    world.create(PAGE, {"slug": world.page(1), "parent": top})
    return Version(PAGE, top, ENGLISH), "publish"


def path_has_another_page(world: World) -> Click:
    """Of two documents with one path, the owner is withdrawn."""
    category = world.categories()[0]
    if world.likely(0.5):
        data = {"slug": "a", "category": category}
        owner = Version(ARTICLE, world.create(ARTICLE, data), ENGLISH)
        world.create(ARTICLE, data)
    else:
        owner = Version(CATEGORY, category, ENGLISH)
        slug = str(world.paths()[owner]).rpartition("/")[2]
        world.create(LANDING, {"slug": slug, "customPath": None})
    return owner, world.random.choice(WITHDRAWALS)


def draft_has_no_path(world: World) -> Click:
    category = world.categories()[0]
    article = world.create(ARTICLE, {"slug": "a", "category": category}, published=0.7)
    version = Version(ARTICLE, article, ENGLISH)
    changes: list[dict[str, object]] = [{"slug": "x/y"}, {"slug": ""}, {"category": None}]
    world.save(version, **world.random.choice(changes))
    return version, "publish"


def anything(world: World) -> Click:
    world.build()
    paths = known(world)
    for _ in range(world.random.randrange(4)):
        free = f"/{world.random.choice(LOCALES)}/{world.own_path()}"
        world.redirect(world.random.choice(paths) if paths and world.likely(0.7) else free, paths)
    published = sorted(version for version, path in world.paths().items() if path)
    action = world.random.choice(["publish", *WITHDRAWALS])
    if action == "unpublish" and not published:
        action = "delete"
    version = world.random.choice(published if action == "unpublish" else world.versions)
    if world.likely(0.8):
        world.change(version, paths)
    return version, action


SCENARIOS: list[Callable[[World], Click]] = [
    many_articles_move,
    anything,
    many_articles_end,
    articles_share_a_path,
    old_path_has_a_redirect,
    new_path_has_a_redirect,
    landing_page_has_a_path_too,
    few_articles_move,
    withdrawn_page_has_a_redirect,
    parents_are_drafts,
    parent_is_published_later,
    path_has_another_page,
    new_path_has_a_redirect,
    draft_has_no_path,
    withdrawn_page_has_a_redirect,
]
