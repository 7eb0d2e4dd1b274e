"""What a scheduler and a worker say to each other: one message a packet on a socket of their own."""

from __future__ import annotations

import struct
from typing import NamedTuple

READY = b"ready"
"""A worker's first message: its network is loaded and warm."""
LARGEST = 1 << 17
"""Bytes of the longest message."""
ANSWERED, DROPPED = 0, 1

_QUERY = struct.Struct("<qdd")
_REPLY = struct.Struct("<qqdddq5f")


class Query(NamedTuple):
    """A frame to be answered; times are of the machine's monotonic clock, which all processes share."""

    identity: int
    latest: float
    """When work on it must have begun, or it is dropped; infinite where nothing is dropped."""
    noise: float
    """A standard-normal draw for the service time, for those that only emulate it."""
    picture: bytes

    def pack(self) -> bytes:
        """As a message."""
        return _QUERY.pack(self.identity, self.latest, self.noise) + self.picture


def read_query(message: bytes) -> Query:
    """The query in a message."""
    identity, latest, noise = _QUERY.unpack_from(message)
    return Query(identity, latest, noise, message[_QUERY.size :])


class Reply(NamedTuple):
    """What became of a query: when its batch began, how long it took, and the surest face."""

    identity: int
    status: int
    begun: float
    seconds: float
    """Of the whole batch, by the clock on the wall."""
    cpu: float
    """Core-seconds of the batch; counted with its first query, 0 with the others."""
    faces: int
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    score: float = 0.0

    def pack(self) -> bytes:
        """As a message."""
        return _REPLY.pack(*self)


def read_reply(message: bytes) -> Reply:
    """The reply in a message."""
    return Reply(*_REPLY.unpack(message))
