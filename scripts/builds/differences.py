"""The difference between the responses of two builds, without the parts that may differ."""

import collections
import difflib
import json
import re

from builds.client import Request, Response, has_header

MESSAGE = re.compile(r'"message":("(?:[^"\\]|\\.)*")')
# Depend on when something was asked; only whether they are there is compared.
OF_TIME = {"date", "age", "last-modified", "expires"}
SHOWN = 30


class Differences:
    """Counts, prints the first ones, and keeps each changed message once."""

    def __init__(self) -> None:
        self.compared: collections.Counter[str] = collections.Counter()
        self.statuses: collections.Counter[int] = collections.Counter()
        self.count = 0
        # Responses that differed, and were equal when asked again.
        self.moments = 0
        # The first old and new text of each changed message, by both without their values.
        self.messages: dict[tuple[str, str], tuple[str, str]] = {}

    def equal(self, kind: str, what: str, old: object, new: object) -> None:
        self.compared[kind] += 1
        if old != new:
            self.count += 1
            if self.count <= SHOWN:
                print(f"DIFFERENT {kind}: {what}\n{show(old, new)}", flush=True)

    def message(self, old: str, new: str) -> None:
        if old != new:
            self.messages.setdefault((without_values(old), without_values(new)), (old, new))

    def texts(self, old: str, new: str) -> None:
        """Lines for people, whose order may depend on chance: each change is a changed message."""
        was = {without_values(line): line for line in old.splitlines()}
        now = {without_values(line): line for line in new.splitlines()}
        gone = [line for key, line in was.items() if key not in now]
        come = [line for key, line in now.items() if key not in was]
        for line in gone:
            closest = difflib.get_close_matches(line, come, n=1, cutoff=0.3)
            self.message(line, closest[0] if closest else "")
            come = [other for other in come if other not in closest]
        for line in come:
            self.message("", line)

    def responses(self, kind: str, request: Request, old: Response, new: Response) -> None:
        self.statuses[old.status] += 1
        if old.status >= 400 and new.status >= 400:
            messages = [MESSAGE.search(text_of(response)) for response in (old, new)]
            if messages[0] and messages[1]:
                self.message(json.loads(messages[0][1]), json.loads(messages[1][1]))
        self.equal(kind, repr(request.raw[:400]), *comparable(request, old, new))

    def report(self) -> str:
        for old, new in self.messages.values():
            print(f"MESSAGE\n  - {indented(old)}\n  + {indented(new)}")
        statuses = ", ".join(f"{n:,} of {status}" for status, n in sorted(self.statuses.items()))
        print(f"answers by status: {statuses}")
        compared = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.compared.items()))
        return (
            f"{compared}: {self.count} differences, {len(self.messages)} changed messages;"
            f" {self.moments} responses differed and were equal when asked again"
        )


def text_of(response: Response) -> str:
    return response.body.decode("utf-8", "backslashreplace")


def comparable(
    request: Request, old: Response, new: Response
) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """What has to be equal of two responses: not the texts of errors, nor times."""
    texts = [text_of(response) for response in (old, new)]
    if old.status >= 400 and new.status >= 400:
        texts = [MESSAGE.sub('"message":"…"', text, count=1) for text in texts]
    same_length = texts[0] == texts[1]
    first, second = (
        (response.status, headers(request, response, same_length), text)
        for response, text in zip((old, new), texts, strict=True)
    )
    return first, second


def headers(request: Request, response: Response, same_length: bool) -> list[tuple[str, str]]:
    """In the order of their names, without values that may differ."""
    found = []
    for name, value in response.headers:
        # A changed message changes the length, a changed compression the bytes.
        is_open = name == "content-length" and (same_length and response.status >= 400)
        if name in OF_TIME or is_open or (name == "x-request-id" and not has_header(request, name)):
            value = "…"
        if name == "cache-status":
            value = re.sub(r"\d+", "N", value)
        found.append((name, value))
    return sorted(found)


def without_values(text: str) -> str:
    """A text that is the same for one message about several values."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"\bfrontend_map[a-z_]*(?:::[a-z_]+)*: ", "", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '"…"', text)
    text = re.sub(r"/[^\s:,`]*", "/…", text)
    return re.sub(r"\d+(?:\.\d+)?(?:e-?\d+)?", "N", text)


def show(old: object, new: object) -> str:
    return f"  old {str(old)[:1500]}\n  new {str(new)[:1500]}"


def indented(text: str) -> str:
    return text.replace("\n", "\n    ")
