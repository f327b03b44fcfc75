"""What webhooks cost, and that Strapi's panel refuses the one that the project itself creates."""

import sys
import time
import urllib.parse
from typing import Any

from strapi.admins import super_admin
from strapi.checks import Checks
from strapi.failing_proxy import FailingProxy
from strapi.live import Live
from strapi.service import ARTICLE, BASE, SITES

AUTHOR, CATEGORY = "api::author.author", "api::category.category"
EVENTS = ["entry.create", "entry.update", "entry.delete", "entry.publish", "entry.unpublish"]
# Without a request to the CMS for so long, the service is at rest, in seconds: longer than the
# debounce of its webhooks.
QUIET, PATIENCE = 3, 60


def is_probe(target: str) -> bool:
    """Whether a request is a probe: it asks for the newest versions of a content type. A single
    type has no list: a probe requests its version in each locale, without the `updatedAt` that
    walks request.
    """
    is_read = "sort=" in target or "updatedAt" in target
    of_homepage = target.startswith("/api/homepage?status=published&") and not is_read
    return of_homepage or "sort=publishedAt:desc" in target


def fail_probes(proxy: FailingProxy) -> None:
    """Makes each probe of the service fail. After one that succeeds, the service reads the
    documents that it shows and those of earlier edits, and walks each type once, at times that no
    edit decides.
    """
    proxy.fail_next(sys.maxsize, is_probe)


def check_panel(checks: Checks, strapi: str, hook: str) -> None:
    """In production the panel accepts no private address; the project's own code is not asked."""
    admin = super_admin(strapi)
    webhook = {"name": "by hand", "url": hook, "headers": {}, "events": EVENTS}
    status, found = admin.call("POST", "/admin/webhooks", webhook)
    message = found["error"]["message"] if status == 400 else ""
    checks.check("webhook: the panel refuses it", "public internet" in message, (status, found))
    own = [(one["name"], one["url"], one["events"]) for one in admin.must("GET", "/admin/webhooks")]
    checks.equal("webhook: the project has created it", own, [("frontend-map", hook, EVENTS)])


class Costs:
    """Counts the requests that an edit causes. The service sends them through the proxy."""

    def __init__(self, live: Live, proxy: FailingProxy) -> None:
        self.live, self.proxy = live, proxy

    def wait_for_probes(self) -> None:
        """Until each type has been probed once: before that, the service requests the type's
        schema, which would be counted.
        """
        probed, types = 0, {uid for rules in SITES.values() for uid in rules}
        begun = time.monotonic()
        while probed < len(types) and time.monotonic() - begun < PATIENCE:
            time.sleep(0.1)
            probed = len({urllib.parse.urlsplit(target).path for target in self.proxy.refused})
        self.live.checks.equal("webhook: each content type has been probed", probed, len(types))

    def requests(self) -> list[str]:
        """The targets so far, without the probes, which come every half a minute."""
        return [target for target in self.proxy.targets if not is_probe(target)]

    def rest(self) -> int:
        last, since, begun = len(self.requests()), time.monotonic(), time.monotonic()
        while time.monotonic() - since < QUIET and time.monotonic() - begun < PATIENCE:
            time.sleep(0.1)
            if (now := len(self.requests())) != last:
                last, since = now, time.monotonic()
        return last

    def of(self, name: str, most: int, *calls: dict[str, Any]) -> None:
        """The calls of the Document Service cause at most so many requests."""
        before = self.rest()
        for call in calls:
            self.live.post("/api/lab/action", call)
        cost = self.rest() - before
        print(f"webhook: {name}: {cost} requests", flush=True)
        sent = "\n".join(self.requests()[before:])
        self.live.checks.check(f"webhook: {name}", cost <= most, f"not {most}:\n{sent}")


def check_costs(live: Live, proxy: FailingProxy, document: str) -> None:
    """Changes cost what changed; a walk over 300 articles has more than 10 requests."""
    costs, author = Costs(live, proxy), live.first("authors")["documentId"]
    # Probes are sent where webhooks are in use.
    live.act("publish", document)
    costs.wait_for_probes()
    draft = call("update", ARTICLE, document, data={"title": "Only a draft"})
    costs.of("a draft is saved", 0, draft)
    costs.of("a draft is discarded", 0, call("discardDraft", ARTICLE, document))
    # No rule reads authors. That is found out once, at the same time for articles and for pages: by
    # the schema of authors (two requests), and by requests for authors with the ids of related
    # documents (four, because authors are not localized). No page has parents on all levels that
    # the rule reads, so a walk of the pages follows (D60): a list and a count in each of three
    # locales, and two more requests for the list in English, which has the pairs of `check_owners`.
    unnamed = {"uid": AUTHOR, "action": "update", "documentId": author}
    costs.of("a type without a rule", 14, unnamed | {"data": {"name": "One"}})
    costs.of("a type without a rule, again", 0, unnamed | {"data": {"name": "Two"}})
    # Three sites read articles, in three locales.
    costs.of("an article is published", 9, call("publish", ARTICLE, document))


def check_dependents(live: Live) -> None:
    """A category's new slug is in the URLs of its articles, although no event names these."""
    found, target = live.first("categories"), live.target
    category, slug = found["documentId"], found["slug"]
    live.target = target.replace("site=main", "site=more")
    _, before = live.urls()
    renamed = f"{slug}-renamed"
    old, new = (f"{BASE}/en/{name}/" for name in (slug, renamed))
    gone = {url for url in before if url.startswith(old)}
    shown = {url.replace(old, new) for url in gone}
    live.checks.check("webhook: the category has articles", gone)
    for action, more in (("update", {"data": {"slug": renamed}}), ("publish", {})):
        live.post("/api/lab/action", call(action, CATEGORY, category, **more))
    live.shows("category renamed", gone, shown)
    _, after = live.urls()
    live.checks.equal("webhook: nothing else changed", after ^ before, gone | shown)
    live.target = target


def call(action: str, uid: str, document: str, **more: object) -> dict[str, Any]:
    return {"uid": uid, "action": action, "documentId": document, "locale": "en"} | more
