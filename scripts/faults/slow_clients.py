"""Thousands of clients that send nothing, send half a head, or never read."""

import os
import resource
import select
import signal
import socket
import threading
import time
from collections.abc import Iterable
from typing import TextIO

from common import site
from common.process import HANG_SECONDS
from common.wrk import wrk
from faults.report import Report
from faults.service import FILES, Service

# What the clients of each kind send.
KINDS = {
    "silent": b"",
    "half-head": b"GET /livez HTTP/1.1\r\nHost: loc",
    "non-reading": f"GET {site.LIST} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 4,
}
# How many of each kind, short and long.
SIZES = {False: (300, 300, 30), True: (10_000, 10_000, 1_000)}
# A client has a descriptor for each connection, too.
MOST_OF_ONE_PROCESS = 7_000
# The last of many is closed within this multiple of the time in which one alone is closed.
MOST_BY_CONTROL = 2.0


class SlowClients:
    """Clients of one kind in a process of their own, which prints when each was closed."""

    def __init__(self, address: str, kind: str, count: int) -> None:
        self.kind = kind
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            # Whatever happens, this process must not go on as the parent.
            try:
                os.close(reader)
                with os.fdopen(writer, "w") as out:
                    connect_and_wait(address, kind, count, out)
            finally:
                os._exit(0)
        os.close(writer)
        self.lines = os.fdopen(reader)
        self.connected = int(self.lines.readline())

    def closed_after(self) -> list[float]:
        """Seconds from connecting to the close, of each client."""
        seconds = [float(line) for line in self.lines]
        os.waitpid(self.pid, 0)
        return sorted(seconds)

    def leave(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.lines.close()


def connect_and_wait(address: str, kind: str, count: int, out: TextIO) -> None:
    host, port = address.rsplit(":", 1)
    poll = select.epoll()
    clients: dict[int, tuple[socket.socket, float]] = {}
    for n in range(count):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.bind((f"127.0.{os.getpid() % 200 + 1}.{n % 200 + 1}", 0))
        try:
            client.connect((host, int(port)))
            client.sendall(KINDS[kind])
        except OSError:
            client.close()
            continue
        # Not whether there is something to read: some of them never read.
        poll.register(client, select.EPOLLRDHUP)
        clients[client.fileno()] = (client, time.monotonic())
    if kind == "non-reading":
        wait_for_answers(client for client, _ in clients.values())
    print(len(clients), file=out, flush=True)
    while clients:
        # Where nothing is closed any more, fewer lines than clients come.
        events = poll.poll(HANG_SECONDS)
        for descriptor, _ in events:
            client, begun = clients.pop(descriptor)
            print(time.monotonic() - begun, file=out)
            client.close()
        if not events:
            return


def wait_for_answers(clients: Iterable[socket.socket]) -> None:
    """Until the answer of each has begun, so that it is an answer that is not read on."""
    for client in clients:
        begun = select.poll()
        begun.register(client, select.POLLIN)
        begun.poll(HANG_SECONDS * 1000)


def start_clients(address: str, sizes: Iterable[int]) -> list[SlowClients]:
    return [
        SlowClients(address, kind, min(MOST_OF_ONE_PROCESS, count - at))
        for kind, count in zip(KINDS, sizes, strict=True)
        for at in range(0, count, MOST_OF_ONE_PROCESS)
    ]


def closed_after(groups: list[SlowClients]) -> dict[str, list[float]]:
    """Seconds until the close of each client, by kind, in order."""
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}

    def collect(clients: SlowClients) -> None:
        found[clients.kind].extend(clients.closed_after())

    # Each writes to a pipe, which must not fill up.
    threads = [threading.Thread(target=collect, args=(clients,)) for clients in groups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {kind: sorted(seconds) for kind, seconds in found.items()}


def run(long: bool) -> None:
    sizes = SIZES[long]
    counts = ", ".join(f"{count} {kind}" for kind, count in zip(KINDS, sizes, strict=True))
    report = Report(f"slow clients: {counts}")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    report.figure(f"the limit of descriptors of a process: {limit}")
    content = site.content(20_000)
    with Service(FILES, content) as service, Service(FILES, content) as control:
        alone = wrk(service.address, site.RESOLVE, seconds=4)
        single = start_clients(control.address, (1, 1, 1))
        groups = start_clients(service.address, sizes)
        connected = sum(clients.connected for clients in groups)
        report.figure(
            f"connected: {connected} of {sum(sizes)}; "
            f"{service.descriptors()} descriptors, {service.memory() >> 20} MiB"
        )
        beside = wrk(service.address, site.RESOLVE, seconds=4)
        report.figure(
            f"healthy requests: p99 {beside.p99:.2f} ms beside them, {alone.p99:.2f} ms alone; "
            f"{beside.rate:.0f} and {alone.rate:.0f} requests/s"
        )
        is_clean = beside.socket_errors == beside.not_2xx == 0
        report.must(is_clean, "all healthy requests are answered")
        check_closed(report, groups, single)
        report.figure(f"after: {service.descriptors()} descriptors, {service.memory() >> 20} MiB")
        check_stop(report, service, control, sizes)


def check_closed(report: Report, groups: list[SlowClients], single: list[SlowClients]) -> None:
    connected = dict.fromkeys(KINDS, 0)
    for clients in groups:
        connected[clients.kind] += clients.connected
    control = closed_after(single)
    for kind, seconds in closed_after(groups).items():
        closed = f"{kind}: {len(seconds)} of {connected[kind]} closed"
        report.must(len(seconds) == connected[kind] and control[kind], closed)
        if seconds and control[kind]:
            ratio = seconds[-1] / control[kind][-1]
            report.must(
                ratio <= MOST_BY_CONTROL,
                f"{kind}: after {seconds[0]:.1f} to {seconds[-1]:.1f} s, one alone after"
                f" {control[kind][-1]:.1f} s: {ratio:.2f}",
            )


def check_stop(report: Report, service: Service, control: Service, sizes: Iterable[int]) -> None:
    groups = start_clients(service.address, sizes) + start_clients(control.address, (1, 1, 1))
    status, seconds = service.stop_timed()
    report.must(status == 0, f"stopped with status {status} beside as many")
    _, alone = control.stop_timed()
    report.figure(f"the stop took {seconds:.1f} s, beside one of each kind {alone:.1f} s")
    for clients in groups:
        clients.leave()
