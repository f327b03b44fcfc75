"""The part of e2e-strapi that changes content and stops the CMS while the service runs."""

import http.client
import json
import time
import urllib.parse
import urllib.request

SECRET = "canary-of-the-hook-secret"
# The promise: a change is in the sitemap, and a CMS that is back is noticed, within this many seconds.
WITHIN = 5
# Until then the clock runs on, so that a failure says how long it really took.
PATIENCE = 900
UID = "api::article.article"


class Live:
    """One sitemap of a running service, and the Strapi behind it."""

    def __init__(self, checks, service, strapi, token, site="main", uid=UID):
        self.checks, self.service, self.strapi, self.token = checks, service, strapi, token
        self.target = "/api/build-sitemap?" + urllib.parse.urlencode(
            {"site": site, "contentType": uid}
        )

    def ask(self, headers=()):
        """(status, headers, body); a connection for each, so that none is kept for too long."""
        connection = http.client.HTTPConnection(self.service.address, timeout=PATIENCE)
        connection.request("GET", self.target, headers=dict(headers))
        response = connection.getresponse()
        answer = response.status, response.headers, response.read().decode("utf-8")
        connection.close()
        return answer

    def urls(self):
        status, headers, body = self.ask()
        self.checks.equal("live: status", status, 200)
        return headers.get("etag"), set(json.loads(body)["data"]["urls"])

    def post(self, path, body):
        request = urllib.request.Request(
            self.strapi + path,
            json.dumps(body).encode(),
            method="POST",
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def act(self, action, document, **more):
        self.post(
            "/api/lab/action",
            {"uid": UID, "action": action, "documentId": document, "locale": "en"} | more,
        )

    def shows(self, name, gone, new):
        """Waits until these URLs are gone and those are there; says after how many seconds."""
        began, tag = time.monotonic(), None
        while time.monotonic() - began < PATIENCE:
            if self.ask({"If-None-Match": tag} if tag else {})[0] != 304:
                tag, urls = self.urls()
                if gone.isdisjoint(urls) and new <= urls:
                    break
            time.sleep(0.05)
        self.took(name, time.monotonic() - began)

    def took(self, name, seconds):
        print(f"live: {name}: {seconds:.1f} s", flush=True)
        self.checks.check(f"live: {name}", seconds <= WITHIN, f"{seconds:.1f} s, not {WITHIN}")

    def until(self, name, is_so):
        """The first answer for which it is so."""
        began = time.monotonic()
        while True:
            answer = self.ask()
            if is_so(answer) or time.monotonic() - began > PATIENCE:
                self.checks.check(f"live: {name}", is_so(answer), answer[:2])
                return answer
            time.sleep(0.05)


def wait_until_built(service, count):
    """Until every copy is there: nobody asks for them, so it is the walk at the start."""
    began = time.monotonic()
    while (built := service.log().count("a snapshot is built")) < count:
        if time.monotonic() - began > PATIENCE:
            raise SystemExit(
                f"only {built} of {count} snapshots were built\n{service.log()[-4000:]}"
            )
        time.sleep(0.1)
    print(f"live: {count} snapshots after {time.monotonic() - began:.1f} s", flush=True)


def check_changes(live, document, url, hook):
    """Publish, unpublish and rename one article, told by Strapi's own webhook."""
    live.post(
        "/api/lab/webhook",
        {"url": hook, "name": "e2e", "headers": {"Authorization": f"Bearer {SECRET}"}},
    )
    _, urls = live.urls()
    live.checks.check("live: is listed at first", url in urls)
    renamed = f"{url}-renamed"
    live.act("unpublish", document)
    live.shows("unpublished", {url}, set())
    live.act("publish", document)
    live.shows("published", set(), {url})
    live.act("update", document, data={"slug": renamed.rpartition("/")[2]})
    live.act("publish", document)
    live.shows("renamed", {url}, {renamed})
    _, found = live.urls()
    live.checks.equal("live: nothing else changed", found ^ urls, {url, renamed})
    for line in built(live.service):
        print(f"  {line}", flush=True)


def built(service):
    """What the log says of the last walks, newest last: where the time goes."""
    lines = [
        line for line in service.log().splitlines() if "a snapshot is built" in line and UID in line
    ]
    return [line.partition("a snapshot is built")[2].strip() for line in lines[-3:]]


def check_outage(live, stop, start):
    """Strapi stops for longer than the hard limit, and returns."""
    checks = live.checks
    status, _, good = live.ask()
    checks.equal("outage: at first", status, 200)
    stop()
    status, headers, body = live.until(
        "outage: the copy is marked", lambda answer: "detail=" in answer[1].get("cache-status", "")
    )
    checks.equal("outage: the copy", (status, body == good), (200, True))
    checks.check("outage: its age", int(headers.get("age", -1)) >= 0, headers)
    status, headers, body = live.until(
        "outage: past the hard limit", lambda answer: answer[0] != 200
    )
    checks.equal("outage: then", (status, headers.get("retry-after")), (503, "5"))
    checks.equal("outage: the error", json.loads(body)["error"]["name"], "ServiceUnavailableError")
    start()
    began = time.monotonic()
    _, _, body = live.until("outage: back", lambda answer: answer[0] == 200)
    live.took("back after its return", time.monotonic() - began)
    checks.check("outage: the same list", body == good)
