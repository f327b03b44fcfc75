"""A host that misbehaves: full disks behind the output, few descriptors, a clock that jumps."""

import pathlib
import socket
import tempfile

from common import site
from common.client import Answer, free_port, get, until
from common.wrk import wrk
from faults.report import Report
from faults.service import FILES, Service

TARGETS = (
    site.RESOLVE,
    site.LIST,
    site.frontend_url("d1"),
    site.frontend_url("none"),
    "/api/resolve?site=main&pathname=/en/x",
    "/nowhere",
)
# Headers that depend on the time or the request.
CHANGING = {"date", "age", "last-modified", "x-request-id", "cache-status"}
CONTENT = site.content(50)
LOG_EVERYTHING = {"LOG__LEVEL": "trace", "LOG__FORMAT": "json", "LOG__ACCESS": "true"}
Answers = dict[str, Answer]


def answers(address: str) -> Answers:
    """Of all targets, without the headers that change."""
    found = {}
    for target in TARGETS:
        status, headers, body = get(address, target)
        lower = {name.lower(): value for name, value in headers.items()}
        kept = {name: value for name, value in lower.items() if name not in CHANGING}
        found[target] = Answer(status, kept, body)
    return found


def run(long: bool) -> None:
    with Service(FILES, CONTENT, LOG_EVERYTHING) as service:
        expected = answers(service.address)
    full_output(expected)
    few_descriptors(expected)
    other_days(expected)


def check_stop(report: Report, service: Service) -> None:
    status, seconds = service.stop_timed()
    report.must(status == 0, f"status {status} after {seconds:.1f} s")


def full_output(expected: Answers) -> None:
    report = Report("/dev/full as stdout and stderr")
    address, full = f"127.0.0.1:{free_port()}", pathlib.Path("/dev/full")
    overrides = LOG_EVERYTHING | {"SERVER__LISTEN": address}
    with Service(FILES, CONTENT, overrides, log=full, stdout=full) as service:
        up = until(lambda: get(address, "/readyz").status == 200)
        report.must(up is not None, "it serves")
        report.must(answers(address) == expected, "answers are the same")
        found = wrk(address, site.RESOLVE, seconds=2)
        report.figure(f"{found.rate:.0f} requests/s, p99 {found.p99:.2f} ms")
        report.must(found.not_2xx == found.socket_errors == 0, "under load as well")
        check_stop(report, service)


def few_descriptors(expected: Answers) -> None:
    report = Report("64 descriptors")
    limited = ("prlimit", "--nofile=64:64")
    with Service(FILES, CONTENT, LOG_EVERYTHING, before=limited) as service:
        report.must(answers(service.address) == expected, "answers are the same")
        found = wrk(service.address, site.RESOLVE, seconds=2)
        report.figure(f"8 connections: {found.rate:.0f} requests/s, p99 {found.p99:.2f} ms")
        report.must(found.not_2xx == found.socket_errors == 0, "8 connections are served")
        host, port = service.address.rsplit(":", 1)
        silent = [socket.create_connection((host, int(port))) for _ in range(200)]
        seconds = until(lambda: answers(service.address) == expected)
        report.must(seconds is not None, f"all answers beside 200 silent clients: {seconds} s")
        for client in silent:
            client.close()
        check_stop(report, service)


def other_days(expected: Answers) -> None:
    report = Report("the clock moved by a day")
    library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        report.must(False, "libfaketime is installed")
        return
    with tempfile.NamedTemporaryFile("w+") as file:
        clock = pathlib.Path(file.name)
        clock.write_text("+0\n")
        before = (
            "env",
            f"LD_PRELOAD={library}",
            f"FAKETIME_TIMESTAMP_FILE={clock}",
            "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
        )
        with Service(FILES, CONTENT, LOG_EVERYTHING, before=before) as service:

            def day() -> str:
                headers = get(service.address, site.RESOLVE).headers
                return {name.lower(): value for name, value in headers.items()}["date"][:16]

            today = day()
            for moved in ("+1d", "-1d", "+0"):
                clock.write_text(f"{moved}\n")
                # hyper never turns the date of its answers back, so the last one is not seen.
                seen = until(lambda: day() != today or moved == "+0")  # noqa: B023 (ends here)
                report.must(seen is not None, f"{moved}: the process sees it")
                report.must(answers(service.address) == expected, f"{moved}: same answers")
            check_stop(report, service)
