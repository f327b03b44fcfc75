"""`/api/frontend-urls` of a service in front of the fixture, compared with its single responses."""

import concurrent.futures
import functools
import json
from typing import Any

from strapi.checks import Checks
from strapi.fixture import Oracle
from strapi.service import ARTICLE, LOCALES, MAIN, PAGE, SITES, Response, Service

Document = dict[str, str]
ROUTE = "/api/frontend-urls"
# Documents of a batch, and single requests in flight at a time.
MOST, AT_ONCE = 1000, 8
# The third site, whose rules have conditions.
RICH = {uid: MAIN[uid] for uid in (PAGE, "plugin::cms.press-release", ARTICLE)}


def check_batches(checks: Checks, warm: Service, cold: Service, oracle: Oracle) -> None:
    """Every document in every locale of the sites, from the snapshots of one service and, of the
    same documents, what another one without snapshots asks Strapi for.
    """
    walked: set[str] = set()
    for site, rules in (SITES | {"rich": RICH}).items():
        for uid, template in rules.items():
            ids = sorted({row["documentId"] for row in oracle.documents(uid, template)})
            locales = [*LOCALES, "es"]
            documents = [
                {"uid": uid, "documentId": document, "locale": locale}
                for document in [*ids, "nosuchdocumentnosuchdocu"]
                for locale in locales
            ]
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                expected = list(pool.map(functools.partial(single, warm, site), documents))
            print(f"batch {site} {uid}: {len(documents)} documents", flush=True)
            # The first batch of a type starts its walk, for all sites.
            for name, service, count in (("cold", cold, MOST), ("warm", warm, len(documents))):
                wanted = documents[:count]
                found, ages = batch(checks, service, site, wanted)
                if name == "warm" or uid not in walked:
                    checks.equal(f"batch {name} {site} {uid}: ages", any(ages), name == "warm")
                for document, one, result in zip(wanted, expected[:count], found, strict=True):
                    checks.equal(f"batch {name} {site} {uid} {document}", result, one)
            walked.add(uid)
            checks.check(f"batch {site} {uid}: has URLs", any("url" in one for one in expected))


def batch(
    checks: Checks, service: Service, site: str, documents: list[Document]
) -> tuple[list[dict[str, Any]], list[bool]]:
    """The results without what the request says, and whether each response has an age."""
    results, ages = [], []
    for at in range(0, len(documents), MOST):
        part = documents[at : at + MOST]
        response = service.post(ROUTE, {"documents": part}, site=site)
        checks.equal(f"batch {site}: status", response.status, 200)
        ages.append("age" in response.headers)
        for document, result in zip(
            part, json.loads(response.body)["data"]["results"], strict=True
        ):
            named = {name: result.pop(name) for name in ("uid", "documentId")}
            wanted = {name: document[name] for name in named}
            checks.equal(f"batch {site}: order", named, wanted)
            # That of a document that is not localized is the first of the site.
            checks.check(
                f"batch {site}: locale", result.pop("locale") in (document["locale"], "en")
            )
            # Single responses have it with `details=true` alone; `owners` checks it.
            result.pop("sharedPath", None)
            results.append(result)
    return results, ages


def single(service: Service, site: str, document: Document) -> dict[str, Any]:
    """The response of `/api/frontend-url` as a result of a batch."""
    uid, document_id, locale = (document[name] for name in ("uid", "documentId", "locale"))
    response: Response = service.get(
        "/api/frontend-url", site=site, uid=uid, documentId=document_id, locale=locale
    )
    body = json.loads(response.body)
    if response.status == 200:
        data: dict[str, Any] = body["data"]
        return data
    details: dict[str, Any] = body["error"].get("details", {})
    # A snapshot does not know what the conditions leave to other sites.
    if details.get("reason") == "conditions_not_met":
        return {"reason": "no_version"}
    return details
