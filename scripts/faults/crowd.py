"""Thousands of clients that send nothing, half a head, or never read."""

import os
import resource
import select
import signal
import socket
import sys
import threading
import time

from faults.load import wrk
from faults.report import Report
from faults.service import FILES, LIST, RESOLVE, Service, content

KINDS = {
    "silent": b"",
    "half-head": b"GET /livez HTTP/1.1\r\nHost: loc",
    "non-reading": f"GET {LIST} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 4,
}
# Silent, half-head, non-reading; short and long.
SIZES = {False: (300, 300, 30), True: (10_000, 10_000, 1_000)}
# A client of ours has a descriptor for each connection, too.
MOST_OF_ONE = 7_000


class Crowd:
    """Clients of one kind, in a process of their own, which tells when each was closed."""

    def __init__(self, address, kind, count):
        self.kind, self.count = kind, count
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reader)
            with os.fdopen(writer, "w") as out:
                crowd(address, kind, count, out)
            os._exit(0)
        os.close(writer)
        self.lines = os.fdopen(self.reader)
        self.connected = int(self.lines.readline())

    def closed_after(self):
        """Seconds from connecting to the close, of each client."""
        seconds = [float(line) for line in self.lines]
        os.waitpid(self.pid, 0)
        return sorted(seconds)

    def leave(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.lines.close()


def crowd(address, kind, count, out):
    host, port = address.rsplit(":", 1)
    poll, clients = select.epoll(), {}
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
        # Not whether there is something to read: some of them never do.
        poll.register(client, select.EPOLLRDHUP)
        clients[client.fileno()] = (client, time.monotonic())
    if kind == "non-reading":
        answered(clients.values())
    print(len(clients), file=out, flush=True)
    while clients:
        for descriptor, _ in poll.poll(60) or sys.exit("a client was never let go"):
            client, begun = clients.pop(descriptor)
            print(time.monotonic() - begun, file=out)
            client.close()


def answered(clients):
    """Waits until the answer of each has begun, so that it is one that nobody reads on."""
    for client, _ in clients:
        begun = select.poll()
        begun.register(client, select.POLLIN)
        begun.poll(60_000) or sys.exit("a client was never answered")


def crowds(address, sizes):
    def parts(count):
        return [min(MOST_OF_ONE, count - at) for at in range(0, count, MOST_OF_ONE)]

    return [Crowd(address, kind, part) for kind, count in zip(KINDS, sizes) for part in parts(count)]


def run(long):
    sizes = SIZES[long]
    report = Report("clients that let us wait: " + ", ".join(f"{n} {kind}" for kind, n in zip(KINDS, sizes)))
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    report.figure(f"the limit of descriptors of a process: {limit}")
    with Service(FILES, content(20_000)) as service:
        alone = wrk(service.address, RESOLVE, 4)
        waiting = crowds(service.address, sizes)
        report.figure(f"connected: {sum(crowd.connected for crowd in waiting)} of {sum(sizes)}; "
                      f"{service.descriptors()} descriptors, {service.memory() >> 20} MiB")
        beside = wrk(service.address, RESOLVE, 4)
        report.figure(f"healthy requests: p99 {beside['p99']:.2f} ms beside them, {alone['p99']:.2f} ms alone; "
                      f"{beside['rate']:.0f} and {alone['rate']:.0f} requests/s")
        report.must(beside["socket"] == 0 and beside["other"] == 0, "all healthy requests are answered")
        on_time(report, waiting)
        report.figure(f"after: {service.descriptors()} descriptors, {service.memory() >> 20} MiB")
        waiting = crowds(service.address, sizes)
        status, seconds = service.stop()
        report.must(status == 0 and seconds < 25, f"stopped with status {status} in {seconds:.1f} s beside as many")
        for clients in waiting:
            clients.leave()


def on_time(report, waiting):
    found = {kind: [] for kind in KINDS}
    # Each writes to a pipe, which must not fill up.
    threads = [threading.Thread(target=lambda c=c: found[c.kind].extend(c.closed_after())) for c in waiting]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for kind, most in (("silent", 10), ("half-head", 10), ("non-reading", 30)):
        seconds = sorted(found[kind])
        connected = sum(crowd.connected for crowd in waiting if crowd.kind == kind)
        # The system's own buffers take some time to fill, and this machine may be busy.
        report.must(len(seconds) == connected and seconds[-1] < most + 5,
                    f"{kind}: {len(seconds)} closed after {seconds[0]:.1f} to {seconds[-1]:.1f} s")
