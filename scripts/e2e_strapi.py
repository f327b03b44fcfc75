#!/usr/bin/env python3
"""Runs the shipped binary in front of a real Strapi 5 and compares each response with an oracle.

`frontend-map init` writes settings files with several tokens, whose sitemaps are compared as well,
and so are those of sites with several hosts, also where documents have paths of their own and the
settings name pages outside the CMS.
Then a token loses a permission and gets it back; `check` compares good and wrong settings with the
CMS, and its messages are printed as a table; paths lead through components, and conditions through
relations to many; documents are published, unpublished and renamed, also with a path that another
one has and keeps, which the webhook of
docs/strapi.md reports, created by the Strapi project itself, and each earlier path has to lead to
its document; and Strapi stops for longer than the hard limit. With --articles there are so many
articles, written into the database directly; then only the sets of URLs are compared, and the
changes and the outage tried.

The Strapi is the fixture `tests/strapi`: installed where $LAB_DIR says (`~/.cache/strapi-lab`) if
it is not yet (minutes; needs node, npm and a C++ compiler), started on a port and with a database
of its own, and stopped at the end. Nothing is skipped: what cannot be set up ends the run with
status 2. Ends with `N passed, N failed`, and status 0 if none failed.
"""

import argparse
import contextlib
import pathlib
import re
import sys
import tempfile
from collections.abc import Mapping

from common.build import BINARY
from common.client import free_port
from strapi import (
    batches,
    check_table,
    drafts,
    first_settings,
    hosts,
    kinds,
    live,
    moved,
    owners,
    responses,
    tables,
    webhooks,
)
from strapi.checks import Checks
from strapi.failing_proxy import FailingProxy
from strapi.fixture import (
    CANNOT_SET_UP,
    CUSTOM_TOKEN,
    EXPIRED_TOKEN,
    FULL_TOKEN,
    READ_TOKEN,
    WRONG_TOKEN,
    Oracle,
    Strapi,
    running,
)
from strapi.own_paths.checks import check_own_paths
from strapi.permissions import Token, all_permissions, check_permissions
from strapi.service import (
    ARTICLE,
    BASE,
    CATEGORY,
    MAIN,
    PAGE,
    SITES,
    SNAPSHOTS,
    Service,
    settings,
)

ARTICLES = 300
# Seconds. With many articles a walk takes minutes on a busy machine.
HARD_LIMIT, HARD_LIMIT_OF_MANY = 30, 600


class Run:
    """One Strapi, and services in front of it that are stopped with the stack."""

    def __init__(
        self,
        checks: Checks,
        strapi: Strapi,
        articles: int,
        binary: pathlib.Path,
        hook: str,
        stack: contextlib.ExitStack,
    ) -> None:
        self.checks, self.strapi, self.binary, self.stack = checks, strapi, binary, stack
        # The address to which Strapi sends webhooks.
        self.hook = hook
        self.oracle = Oracle(articles, BASE)
        row = self.oracle.first(ARTICLE, MAIN[ARTICLE])
        self.document, self.url = row["documentId"], BASE + row["path"]
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))

    def start(
        self,
        token: str,
        *,
        declares_single_type: bool = True,
        by_documents: bool = False,
        log: str = "trace",
        overrides: Mapping[str, object] | None = None,
        text: str | None = None,
    ) -> Service:
        service = Service(
            self.binary,
            self.folder,
            self.strapi.url,
            token,
            declares_single_type=declares_single_type,
            by_documents=by_documents,
            log=log,
            overrides=overrides,
            text=text,
        )
        return self.stack.enter_context(service)

    def check_sets(self, service: Service) -> None:
        for site, rules in SITES.items():
            for uid, template in rules.items():
                responses.check_sitemap(self.checks, service, self.oracle, site, uid, template)
            responses.check_crawler_files(self.checks, service, self.oracle, site, rules)
            tables.check_tables(self.checks, service, self.oracle, site, rules)

    def check_everything(self) -> dict[str, Service]:
        """Each document; a token that may read the schema; one that may read nothing."""
        reader = self.start(READ_TOKEN)
        self.check_sets(reader)
        responses.check_all_urls(self.checks, reader, self.oracle)
        responses.check_rich(self.checks, reader, self.oracle, self.strapi.url)
        cold = self.start(READ_TOKEN, log="info", overrides={"SNAPSHOTS__AT_START": "false"})
        batches.check_batches(self.checks, reader, cold, self.oracle)
        # This token reads the schema, so that nothing needs to be configured or guessed.
        full = self.start(FULL_TOKEN, declares_single_type=False)
        for uid, template in MAIN.items():
            responses.check_sitemap(self.checks, full, self.oracle, "main", uid, template)
        wrong = self.start(WRONG_TOKEN)
        self.check_failures(wrong, 502, "BadGatewayError")
        self.check_setup_problems(wrong)
        return {"reader": reader, "full": full, "wrong": wrong}

    def check_first_settings(self) -> None:
        """Settings files that `init` writes."""

        def start(token: str, text: str) -> Service:
            return self.start(token, log="info", text=text)

        first_settings.check_first_settings(
            self.checks, self.binary, self.strapi.url, self.oracle, start
        )

    def check_drafts(self) -> None:
        """Each draft, by its path and by its id."""
        resolving = self.start(READ_TOKEN, by_documents=True, log="info")
        drafts.check_drafts(self.checks, resolving, self.oracle)
        self.checks.equal("resolving: ends with status 0", resolving.stop(), 0)

    def check_hosts(self) -> None:
        """Sites with a host for each locale."""

        def start(text: str) -> Service:
            return self.start(READ_TOKEN, log="info", text=text)

        hosts.check_hosts(self.checks, self.strapi.url, self.oracle, start)

    def check_own_paths(self) -> None:
        """The sites with pages outside the CMS and documents with paths of their own."""

        def start(text: str) -> Service:
            overrides = {
                "SERVER__LISTEN": self.hook,
                "HOOKS__SECRET": live.HOOK_SECRET,
                # So that only the webhook refreshes the snapshots.
                "SNAPSHOTS__SOFT_SECONDS": 3600,
            }
            return self.start(READ_TOKEN, log="info", overrides=overrides, text=text)

        strapi = self.strapi
        check_own_paths(self.checks, strapi.url, strapi.database, start)

    def check_moves(self) -> None:
        """Where earlier paths lead, and how soon after an edit."""
        overrides = {
            "SERVER__LISTEN": self.hook,
            "HOOKS__SECRET": live.HOOK_SECRET,
            "SNAPSHOTS__SOFT_SECONDS": 3600,
        }
        text = moved.settings(self.strapi.url)
        service = self.start(READ_TOKEN, log="info", overrides=overrides, text=text)
        moved.check_moves(live.Live(self.checks, service, self.strapi.url, FULL_TOKEN))
        self.checks.equal("moved: ends with status 0", service.stop(), 0)

    def check_owners(self) -> None:
        """Pairs of documents with one path, published in random order."""
        overrides = {
            "SERVER__LISTEN": self.hook,
            "HOOKS__SECRET": live.HOOK_SECRET,
            "SNAPSHOTS__SOFT_SECONDS": 3600,
        }
        text = owners.settings(self.strapi.url)
        service = self.start(READ_TOKEN, log="info", overrides=overrides, text=text)
        owners.check_owners(live.Live(self.checks, service, self.strapi.url, FULL_TOKEN))
        self.checks.equal("owners: ends with status 0", service.stop(), 0)

    def check_setup_problems(self, wrong: Service) -> None:
        """401 and 403 have different messages, and each says what to do."""
        for service in (wrong, self.start(EXPIRED_TOKEN, log="info")):
            refused = "401 on /api/articles: the token is wrong or has expired"
            responses.check_setup_problem(self.checks, service, ARTICLE, refused)
        custom = self.start(CUSTOM_TOKEN, log="info")
        for uid, endpoint in ((PAGE, "pages"), (CATEGORY, "categories")):
            denied = f"403 on /api/{endpoint}: grant find"
            responses.check_setup_problem(self.checks, custom, uid, denied)
        permitted = custom.get("/api/build-sitemap", site="main", contentType=ARTICLE)
        self.checks.equal("custom token: a type that it may read", permitted.status, 200)

    def check_failures(self, service: Service, status: int, error: str) -> None:
        responses.check_all_failures(self.checks, service, self.document, status, error)

    def check_live(self, hard: int) -> None:
        """Changes, then an outage. Snapshots of an hour, so that only webhooks refresh them."""
        hooked = self.start_hooked(self.strapi.url)
        changing = live.Live(self.checks, hooked, self.strapi.url, FULL_TOKEN)
        webhooks.check_panel(self.checks, self.strapi.url, hook_url(self.hook))
        live.check_changes(changing, self.document, self.url)
        webhooks.check_dependents(changing)
        shown = live.HOOK_SECRET in hooked.log()
        self.checks.check("log: no secret of the webhook", not shown)
        self.checks.equal("hooked: ends with status 0", hooked.stop(), 0)
        self.check_costs()
        outlasting = self.start(
            READ_TOKEN,
            log="info",
            overrides={
                "SNAPSHOTS__SOFT_SECONDS": 1,
                "SNAPSHOTS__HARD_SECONDS": hard,
                # On a busy machine a refresh every second is more than the default share.
                "SNAPSHOTS__CMS_SHARE": 1.0,
                "SNAPSHOTS__AT_START": "false",
            },
        )
        stopping = live.Live(self.checks, outlasting, self.strapi.url, FULL_TOKEN)
        live.check_outage(stopping, self.strapi)

    def check_costs(self) -> None:
        """The requests that edits cause."""
        proxy = self.stack.enter_context(FailingProxy(self.strapi.url))
        webhooks.fail_probes(proxy)
        # So that no request of an edit waits for its share.
        service = self.start_hooked(proxy.url, {"SNAPSHOTS__CMS_SHARE": 1.0})
        counting = live.Live(self.checks, service, self.strapi.url, FULL_TOKEN)
        webhooks.check_costs(counting, proxy, self.document)
        self.checks.equal("counted: ends with status 0", service.stop(), 0)

    def start_hooked(self, cms: str, overrides: Mapping[str, object] | None = None) -> Service:
        """A service that gets the webhooks of Strapi, once all of its snapshots are built."""
        service = self.start(
            READ_TOKEN,
            log="info",
            overrides={
                "SERVER__LISTEN": self.hook,
                "HOOKS__SECRET": live.HOOK_SECRET,
                "SNAPSHOTS__SOFT_SECONDS": 3600,
                **(overrides or {}),
            },
            text=settings(cms, declares_single_type=True, by_documents=False),
        )
        live.wait_until_built(service, SNAPSHOTS)
        return service

    def check_kinds(self) -> None:
        """Fields of all kinds, and `check` for good and wrong settings."""
        proxy = self.stack.enter_context(FailingProxy(self.strapi.url))
        service = self.start(
            READ_TOKEN,
            log="info",
            overrides={
                "SERVER__LISTEN": self.hook,
                "HOOKS__SECRET": live.HOOK_SECRET,
                "SNAPSHOTS__SOFT_SECONDS": 3600,
                "SNAPSHOTS__AT_START": "false",
            },
            text=kinds.settings(proxy.url),
        )
        changing = live.Live(self.checks, service, self.strapi.url, FULL_TOKEN)
        ids = kinds.create(changing)
        check_table.check(self.checks, self.binary, self.strapi.url)
        kinds.check_kinds(self.checks, changing, proxy, ids)
        self.checks.equal("kinds: ends with status 0", service.stop(), 0)

    def check_permissions(self) -> None:
        token = Token(self.strapi.url, "lost", all_permissions())
        overrides = {"SNAPSHOTS__SOFT_SECONDS": 1, "SNAPSHOTS__AT_START": "false"}

        def start() -> Service:
            return self.start(token.key, log="info", overrides=overrides)

        check_permissions(self.checks, token, start, self.oracle)

    def check_logs(self, services: dict[str, Service]) -> None:
        for name, service in services.items():
            self.checks.equal(f"{name}: ends with status 0", service.stop(), 0)
            log = service.log()
            responses.check_no_token(self.checks, f"log of {name}", log)
            is_trace = re.search("TRACE|trace|DEBUG|debug", log)
            self.checks.check(f"log of {name}: is at trace", is_trace, log[:200])
            self.checks.check(f"log of {name}: no panic", "panicked" not in log)

    def check_strapi_log(self) -> None:
        """No request of the service makes Strapi log an error."""
        errors = self.strapi.errors
        self.checks.check("Strapi's log has no errors", not errors, errors[:3])

    def small(self) -> None:
        services = self.check_everything()
        self.check_first_settings()
        self.check_drafts()
        self.check_hosts()
        self.check_own_paths()
        self.check_permissions()
        self.check_kinds()
        self.check_moves()
        self.check_owners()
        self.check_live(HARD_LIMIT)
        self.strapi.stop()
        self.check_strapi_log()
        services["cold"] = self.start(READ_TOKEN)
        self.check_failures(services["cold"], 503, "ServiceUnavailableError")
        name = "resolving goes on without Strapi"
        responses.check_article_resolves(self.checks, services["reader"], name)
        self.check_logs(services)

    def large(self) -> None:
        reader = self.start(READ_TOKEN, log="info")
        self.check_sets(reader)
        self.checks.equal("reader: ends with status 0", reader.stop(), 0)
        self.check_moves()
        self.check_live(HARD_LIMIT_OF_MANY)
        self.strapi.stop()
        self.check_strapi_log()


def hook_url(address: str) -> str:
    return f"http://{address}/hooks/cms"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", type=int)
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=BINARY)
    options = parser.parse_args()
    binary = options.binary.resolve()
    if not binary.is_file():
        print(f"{binary} is missing")
        sys.exit(CANNOT_SET_UP)
    is_large = options.articles is not None
    articles = options.articles or ARTICLES
    checks, hook = Checks(), f"127.0.0.1:{free_port()}"
    variables = {
        "FRONTEND_MAP_HOOK": hook_url(hook),
        "FRONTEND_MAP_HOOK_SECRET": live.HOOK_SECRET,
    }
    with (
        running(articles, bulk=is_large, variables=variables) as strapi,
        contextlib.ExitStack() as stack,
    ):
        run = Run(checks, strapi, articles, binary, hook, stack)
        if is_large:
            run.large()
        else:
            run.small()
    failed = checks.failed.total()
    print(f"{checks.passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
