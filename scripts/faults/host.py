"""A host that misbehaves: full disks behind the output, few descriptors, a clock that jumps."""

import glob
import socket
import tempfile

from faults.load import wrk
from faults.report import Report
from faults.service import FILES, LIST, RESOLVE, Service, content, get, one, until

TARGETS = (RESOLVE, LIST, one("d1"), one("none"), "/api/resolve?site=main&pathname=/en/x", "/nowhere")
VARIABLES = {"LOG__LEVEL": "trace", "LOG__FORMAT": "json", "LOG__ACCESS": "true"}


def answers(address):
    """Of all targets, without what tells the time."""
    found = {}
    for target in TARGETS:
        status, headers, body = get(address, target)
        kept = {name.lower(): value for name, value in headers.items()}
        for name in ("date", "age", "last-modified", "x-request-id", "cache-status"):
            kept.pop(name, None)
        found[target] = (status, kept, body)
    return found


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def run(long):
    with Service(FILES, content(50), **VARIABLES) as service:
        expected = answers(service.address)
    full_output(expected)
    few_descriptors(expected)
    other_days(expected)


def full_output(expected):
    report = Report("/dev/full as stdout and stderr")
    address = f"127.0.0.1:{free_port()}"
    with open("/dev/full", "wb") as full:
        with Service(FILES, content(50), stdout=full, stderr=full, listen=address, **VARIABLES) as service:
            up = until(lambda: get(address, "/readyz")[0] == 200)
            report.must(up is not None, "it serves")
            report.must(answers(address) == expected, "answers are the same")
            found = wrk(address, RESOLVE, 2)
            report.figure(f"{found['rate']:.0f} requests/s, p99 {found['p99']:.2f} ms")
            report.must(found["other"] == 0, "under load as well")
            status, seconds = service.stop()
            report.must(status == 0 and seconds < 5, f"status {status} after {seconds:.1f} s")


def few_descriptors(expected):
    report = Report("64 descriptors")
    with Service(FILES, content(50), command=("prlimit", "--nofile=64:64"), **VARIABLES) as service:
        report.must(answers(service.address) == expected, "answers are the same")
        found = wrk(service.address, RESOLVE, 2, connections=8)
        report.must(found["other"] == 0, f"8 connections: {found['rate']:.0f} requests/s, p99 {found['p99']:.2f} ms")
        host, port = service.address.rsplit(":", 1)
        crowd = [socket.create_connection((host, int(port))) for _ in range(200)]
        begun = until(lambda: answers(service.address) == expected, 30)
        report.must(begun is not None, f"beside 200 silent clients: all answers after {begun and round(begun, 2)} s")
        for client in crowd:
            client.close()
        status, seconds = service.stop()
        report.must(status == 0, f"status {status} after {seconds:.1f} s")


def other_days(expected):
    report = Report("the clock moved by a day")
    library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    if not library:
        return report.must(False, "libfaketime is not installed")
    with tempfile.NamedTemporaryFile("w+") as clock:
        set_clock(clock, "+0")
        command = ("env", f"LD_PRELOAD={library[0]}", f"FAKETIME_TIMESTAMP_FILE={clock.name}",
                   "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1")
        with Service(FILES, content(50), command=command, **VARIABLES) as service:
            first = get(service.address, RESOLVE)[1]["date"]
            for moved in ("+1d", "-1d", "+0"):
                set_clock(clock, moved)
                told = until(lambda: get(service.address, RESOLVE)[1]["date"][:16] != first[:16] or moved == "+0", 5)
                report.must(told is not None, f"{moved}: the process sees it")
                report.must(answers(service.address) == expected, f"{moved}: answers are the same")
            status, seconds = service.stop()
            report.must(status == 0, f"status {status} after {seconds:.1f} s")


def set_clock(clock, text):
    clock.seek(0)
    clock.truncate()
    clock.write(text + "\n")
    clock.flush()
