"""Which scope a memory belongs to, and when two memories are the same one."""

from __future__ import annotations

import hashlib
from datetime import datetime

from .memory import NewMemory, utc
from .text import content_hash

__all__ = ["fingerprint", "same_key", "shard_key", "uuid7_bytes"]

_SEPARATOR = b"\x00"  # cannot occur in an id, so joined ids cannot be forged


def shard_key(tenant_id: str, user_id: str) -> int:
    """Return the signed 64-bit key that starts every key of this user's rows; stable for ever."""
    return int.from_bytes(_digest(8, tenant_id, user_id), "big", signed=True)


def same_key(tenant_id: str, new: NewMemory) -> bytes:
    """Return 16 bytes that are equal for memories that are the same one.

    The same scope (tenant, user, agent), type and text, and of events the same time if the caller
    gave one that counts: two events with the same words are two memories, a fact told twice is one.
    """
    given = "" if new.identifying_time is None else _timestamp(new.identifying_time)
    scope = _digest(16, tenant_id, new.user_id, new.agent_id, new.memory_type.value, given)
    return hashlib.blake2b(scope + content_hash(new.content), digest_size=16).digest()


def fingerprint(parts: list[str]) -> bytes:
    """Return 16 bytes that stand for a request, to tell a retry from another request."""
    return _digest(16, *parts)


def uuid7_bytes(unix_ms: int, sequence: int, random_62: int) -> bytes:
    """Return a version 7 UUID (RFC 9562): time, then `sequence` (0..4095) for order within one ms."""
    head = unix_ms << 16 | 0x7000 | sequence
    tail = 0b10 << 62 | random_62
    return head.to_bytes(8, "big") + tail.to_bytes(8, "big")


def _timestamp(value: datetime) -> str:
    return utc(value).isoformat(timespec="microseconds")


def _digest(size: int, *parts: str) -> bytes:
    joined = _SEPARATOR.join(part.encode("utf-8", "surrogatepass") for part in parts)
    return hashlib.blake2b(joined, digest_size=size).digest()
