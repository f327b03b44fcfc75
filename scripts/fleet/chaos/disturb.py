"""Faults of a fleet: of instances, of Redis, of its data, and of the connections to it."""

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace

from common.process import HANG_SECONDS
from fleet.chaos.members import Member
from fleet.chaos.proxy import Faults
from fleet.redis import Redis

# The paths of the two settings files between which a fleet rolls.
WORDS = ("a", "b")
# How many keys are damaged at once.
MOST_DAMAGED = 3
# Seconds that a fault lasts at least.
LEAST = 0.2


class Disturber:
    """One call begins a fault, waits and ends it; it returns a description for the output."""

    def __init__(
        self, members: list[Member], redis: Redis, own: random.Random, longest: float
    ) -> None:
        self.members, self.redis, self.random, self.longest = members, redis, own, longest
        # Called when a fault has begun.
        self.begun: Callable[[], None] = lambda: None
        # Instances that one of two faults at once has picked.
        self.taken: list[Member] = []

    async def hold(self, part: float = 1.0, least: float = 0.0) -> float:
        """Waits for a random time up to a part of the longest; short times are more frequent."""
        seconds = max(least, LEAST, self.longest * part * self.random.random() ** 2)
        self.begun()
        await asyncio.sleep(seconds)
        return seconds

    async def pick(self, leader: bool) -> Member | None:
        """An instance that is up, if another one is; a leader or a follower if possible."""
        up = [one for one in self.members if one.is_asked and one not in self.taken]
        if len(up) < 2:
            return None
        leads = await asyncio.gather(*(asyncio.to_thread(count_led, member) for member in up))
        chosen = [one for one, count in zip(up, leads, strict=True) if bool(count) is leader]
        # The other fault may have picked one meanwhile.
        free = [one for one in up if one not in self.taken]
        if len(free) < 2:
            return None
        found = self.random.choice([one for one in chosen if one in free] or free)
        self.taken.append(found)
        return found

    async def kill(self, leader: bool) -> str:
        member = await self.pick(leader)
        if member is None:
            return ""
        await asyncio.to_thread(member.kill)
        seconds = await self.hold(0.3)
        await asyncio.to_thread(member.start)
        return f"instance {member.number} killed for {seconds:.1f} s"

    async def kill_leader(self) -> str:
        return await self.kill(True)

    async def kill_follower(self) -> str:
        return await self.kill(False)

    async def pause(self, leader: bool) -> str:
        member = await self.pick(leader)
        if member is None:
            return ""
        member.pause()
        seconds = await self.hold(1.0, least=min(4.0, self.longest))
        member.resume()
        return f"instance {member.number} stopped for {seconds:.1f} s"

    async def pause_leader(self) -> str:
        return await self.pause(True)

    async def pause_follower(self) -> str:
        return await self.pause(False)

    async def restart(self) -> str:
        member = await self.pick(self.random.random() < 0.5)
        if member is None:
            return ""
        self.begun()
        await asyncio.to_thread(member.stop)
        await asyncio.to_thread(member.start)
        return f"instance {member.number} restarted"

    async def roll(self) -> str:
        """A deploy of other settings, one instance after the other."""
        if sum(member.is_asked for member in self.members) < 2:
            return ""
        word = WORDS[self.members[0].settings.word == WORDS[0]]
        self.begun()
        for member in self.members:
            await asyncio.to_thread(member.stop)
            await asyncio.to_thread(member.start, replace(member.settings, word=word))
            await self.until_asked(member)
        return f"rolled to settings {word}"

    async def until_asked(self, member: Member) -> None:
        for _ in range(HANG_SECONDS * 10):
            if member.is_asked:
                return
            await asyncio.sleep(0.1)
        raise SystemExit(f"not ready after a restart\n{member.instance.log()[-4000:]}")

    async def kill_redis(self) -> str:
        await asyncio.to_thread(self.redis.kill)
        seconds = await self.hold(0.5)
        await asyncio.to_thread(self.redis.start)
        return f"Redis killed for {seconds:.1f} s, then empty"

    async def pause_redis(self) -> str:
        self.redis.pause()
        seconds = await self.hold(1.0)
        self.redis.resume()
        return f"Redis stopped for {seconds:.1f} s"

    async def flush(self) -> str:
        await asyncio.to_thread(self.redis.send, "FLUSHALL")
        self.begun()
        return "Redis flushed"

    async def full(self) -> str:
        await asyncio.to_thread(self.redis.send, "CONFIG", "SET", "maxmemory", "1")
        seconds = await self.hold(0.5, least=1)
        await asyncio.to_thread(self.redis.send, "CONFIG", "SET", "maxmemory", "0")
        return f"Redis out of memory for {seconds:.1f} s"

    async def readonly(self) -> str:
        await asyncio.to_thread(self.redis.send, "REPLICAOF", "127.0.0.1", "1")
        seconds = await self.hold(0.5, least=1)
        await asyncio.to_thread(self.redis.send, "REPLICAOF", "NO", "ONE")
        return f"Redis read-only for {seconds:.1f} s"

    async def damage(self) -> str:
        """Deletes and replaces values under the prefix, as another program might."""
        done = await asyncio.to_thread(self.damage_keys)
        self.begun()
        return f"damaged {', '.join(done)}"

    def damage_keys(self) -> list[str]:
        keys, done, link = self.redis.all_keys(), [], self.redis.link()
        for key in self.random.sample(keys, min(len(keys), self.random.randint(1, MOST_DAMAGED))):
            kind = link.send("TYPE", key)
            way = self.random.choice(("delete", "replace", "other type"))
            if way == "delete":
                link.send("DEL", key)
            elif way == "other type":
                link.send("DEL", key)
                link.send("LPUSH", key, "foreign")
            elif kind == b"hash":
                for name in link.send("HKEYS", key):
                    link.send("HSET", key, name, b"\x00 damaged")
            elif kind == b"stream":
                link.send("XADD", key, "*", "kind", "list", "body", b"\xff damaged")
            elif kind == b"string":
                link.send("SETRANGE", key, 3, "damaged")
            else:
                link.send("DEL", key)
            done.append(f"{key.decode(errors='replace')} ({way})")
        link.close()
        return done

    async def cut(self) -> str:
        return await self.on_the_way("cut", Faults(refuse=True), cut=True)

    async def silence(self) -> str:
        return await self.on_the_way("silent", Faults(silent=True))

    async def delay(self) -> str:
        return await self.on_the_way("slow", Faults(delay=self.random.uniform(0.02, 0.4)))

    async def break_off(self) -> str:
        return await self.on_the_way("breaking off", Faults(cut=self.random.uniform(0.01, 0.3)))

    async def repeat(self) -> str:
        return await self.on_the_way("repeating", Faults(repeat=self.random.uniform(0.01, 0.3)))

    async def on_the_way(self, name: str, faults: Faults, *, cut: bool = False) -> str:
        """A fault of the connections between Redis and one instance, some, or all."""
        count = self.random.choice((1, 1, 2, len(self.members)))
        chosen = self.random.sample(self.members, min(count, len(self.members)))
        for member in chosen:
            member.proxy.become(faults, cut=cut)
        seconds = await self.hold(0.5, least=0.5)
        for member in chosen:
            member.proxy.become(Faults())
        numbers = ", ".join(str(member.number) for member in chosen)
        return f"the way of {numbers} to Redis {name} for {seconds:.1f} s"

    def lift(self) -> None:
        """Ends the faults, also a cancelled one."""
        for member in self.members:
            member.proxy.become(Faults())
            member.instance.signal(signal.SIGCONT)
        self.redis.resume()

    def all(self) -> dict[str, tuple[int, Callable[[], Awaitable[str]]]]:
        """Weights and faults by name."""
        return {
            "kill-leader": (4, self.kill_leader),
            "kill-follower": (2, self.kill_follower),
            "stop-leader": (3, self.pause_leader),
            "stop-follower": (1, self.pause_follower),
            "restart": (2, self.restart),
            "roll": (1, self.roll),
            "kill-redis": (3, self.kill_redis),
            "stop-redis": (2, self.pause_redis),
            "flush": (2, self.flush),
            "full": (1, self.full),
            "readonly": (1, self.readonly),
            "damage": (2, self.damage),
            "cut": (3, self.cut),
            "silence": (1, self.silence),
            "delay": (1, self.delay),
            "break-off": (1, self.break_off),
            "repeat": (1, self.repeat),
        }


def redis_faults() -> set[str]:
    """The faults of which two at once would end each other."""
    return {"kill-redis", "stop-redis", "flush", "full", "readonly", "damage"}


def of_instances() -> set[str]:
    """The faults during which all other instances can use Redis."""
    return {"kill-leader", "kill-follower", "stop-leader", "stop-follower", "restart", "roll"}


def count_led(member: Member) -> int:
    try:
        return member.instance.leads()
    except (OSError, ValueError):
        return 0
