"""Whether ``rank`` may be trusted: completion times as they come, against what its rule had promised.

At each decision the rule's own choice promises a completion time. Where the learned correction suits the
machines, requests take about as much longer than that as they did in training; a policy that was trained for
other machines piles them up, and they take far longer. Only what a gateway sees is used: which of the
requests that were placed are still there.
"""

from __future__ import annotations

from trimtab.sim.kernel import kernel, routine

PLACES = 256
"""Requests that are watched at a time; of more, the others go unwatched."""
_FIELDS = 4
LENGTH = 8 + PLACES * _FIELDS
_WATCHED, _DECIDED, _RATIOS, _ANSWERS, FALLEN, FALLS, SURPRISE, _WAIT = range(8)
_LIST = 8

_KEEP = 0.97
"""Of what was seen before, at each answer: about the last thirty count."""
_ENOUGH = 8.0
"""Answers, or requests overdue, before a verdict."""
_LARGEST = 4.0
"""A request that took longer than this many times what was expected counts as this."""
_OVERDUE = 2.0
"""Times what was expected: from then on a request counts though it has not been answered."""
_FORGIVE = 0.8
"""Trusted again when the surprise is below this share of the limit …"""
_PENANCE = 50.0
"""… and after this many answers, twice as many after each further fall."""


@kernel
def watch(memory, start, slot, request, now, expected):
    """Remember what was expected of a request that is placed now."""
    count = int(memory[start + _WATCHED])
    if count < PLACES and expected > 0.0:
        place = start + _LIST + _FIELDS * count
        memory[place], memory[place + 1] = slot, request.id
        memory[place + 2], memory[place + 3] = now, expected
        memory[start + _WATCHED] = count + 1


@routine
def observe(memory, start, active, now, limit):
    """See which requests were answered since the last decision; whether the learned correction may be used.

    When exactly an answer came between two decisions is not known: as near to what was expected as can be.
    Those still there and long overdue count too, or a policy under which nothing ends would never be found out.
    """
    before = memory[start + _DECIDED]
    memory[start + _DECIDED] = now
    late, overdue, index = 0.0, 0.0, 0
    while index < int(memory[start + _WATCHED]):
        place = start + _LIST + _FIELDS * index
        began, expected = memory[place + 2], memory[place + 3]
        if active[int(memory[place])].id == int(memory[place + 1]):
            if now - began > _OVERDUE * expected:
                late += min((now - began) / expected, _LARGEST)
                overdue += 1.0
            index += 1
            continue
        observed = min(max(expected, before - began), now - began)
        ratio = min(observed / expected, _LARGEST)
        memory[start + _RATIOS] = _KEEP * memory[start + _RATIOS] + ratio
        memory[start + _ANSWERS] = _KEEP * memory[start + _ANSWERS] + 1.0
        memory[start + _WAIT] -= 1.0
        memory[start + _WATCHED] -= 1.0
        last = start + _LIST + _FIELDS * int(memory[start + _WATCHED])
        for field in range(_FIELDS):
            memory[place + field] = memory[last + field]
    seen = memory[start + _ANSWERS] + overdue
    if seen < _ENOUGH:
        return memory[start + FALLEN] == 0.0
    surprise = (memory[start + _RATIOS] + late) / seen
    memory[start + SURPRISE] = max(memory[start + SURPRISE], surprise)
    if surprise > limit and memory[start + FALLEN] == 0.0:
        memory[start + FALLEN] = 1.0
        memory[start + _WAIT] = _PENANCE * 2.0 ** memory[start + FALLS]
        memory[start + FALLS] += 1.0
    elif surprise < _FORGIVE * limit and memory[start + _WAIT] <= 0.0:
        memory[start + FALLEN] = 0.0
    return memory[start + FALLEN] == 0.0
