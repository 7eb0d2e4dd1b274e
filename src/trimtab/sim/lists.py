"""Linked lists through record fields: queues of requests, idle instances, instances of a function."""

from __future__ import annotations

from trimtab.sim.kernel import kernel
from trimtab.sim.records import NONE

_NONE = NONE


@kernel
def take_request(core):
    """A free slot for a request in flight; the engine checks that there is one."""
    world = core.world[0]
    slot = world.free_request
    world.free_request = core.active[slot].next
    request = core.active[slot]
    request.next = _NONE
    request.previous = _NONE
    request.host = _NONE
    request.instance = _NONE
    request.stream = _NONE
    request.owner = _NONE
    request.target = _NONE
    request.rate = 0.0
    request.left = 0.0
    request.cold = 0
    request.stage = 0
    request.noise = 0.0
    request.down = 0.0
    return slot


@kernel
def free_request(core, slot):
    """Give a slot back; events that still name it are recognised by their stamp."""
    request = core.active[slot]
    request.stamp += 1
    request.id = _NONE
    request.host = _NONE
    request.instance = _NONE
    request.next = core.world[0].free_request
    core.world[0].free_request = slot


@kernel
def queue_on_host(core, host, slot):
    """Append to the first-in-first-out queue of a host."""
    request = core.active[slot]
    request.next = _NONE
    if host.queue_tail == _NONE:
        host.queue_head = slot
    else:
        core.active[host.queue_tail].next = slot
    host.queue_tail = slot
    host.queued += 1
    core.world[0].queued += 1


@kernel
def unqueue_from_host(core, host):
    """Remove the head of a host's queue and return it."""
    slot = host.queue_head
    host.queue_head = core.active[slot].next
    if host.queue_head == _NONE:
        host.queue_tail = _NONE
    core.active[slot].next = _NONE
    host.queued -= 1
    core.world[0].queued -= 1
    return slot


@kernel
def queue_on_function(core, function, slot):
    """Append to the first-in-first-out queue of a function."""
    request = core.active[slot]
    request.next = _NONE
    if function.queue_tail == _NONE:
        function.queue_head = slot
    else:
        core.active[function.queue_tail].next = slot
    function.queue_tail = slot
    function.queued += 1
    core.world[0].queued += 1


@kernel
def requeue_on_function(core, function, slot):
    """Put a request back to the head of a function's queue."""
    core.active[slot].next = function.queue_head
    if function.queue_tail == _NONE:
        function.queue_tail = slot
    function.queue_head = slot
    function.queued += 1
    core.world[0].queued += 1


@kernel
def unqueue_from_function(core, function):
    """Remove the head of a function's queue and return it."""
    slot = function.queue_head
    function.queue_head = core.active[slot].next
    if function.queue_head == _NONE:
        function.queue_tail = _NONE
    core.active[slot].next = _NONE
    function.queued -= 1
    core.world[0].queued -= 1
    return slot


@kernel
def list_front(core, owner, index):
    """Put an instance at the front of its owner's list of instances with a free place."""
    instance = core.instances[index]
    instance.previous = _NONE
    instance.next = owner.first
    if owner.first == _NONE:
        owner.last = index
    else:
        core.instances[owner.first].previous = index
    owner.first = index
    instance.listed = 1


@kernel
def list_back(core, owner, index):
    """Put an instance at the back of its owner's list of instances with a free place."""
    instance = core.instances[index]
    instance.next = _NONE
    instance.previous = owner.last
    if owner.last == _NONE:
        owner.first = index
    else:
        core.instances[owner.last].next = index
    owner.last = index
    instance.listed = 1


@kernel
def unlist(core, owner, index):
    """Take an instance out of its owner's list."""
    instance = core.instances[index]
    if instance.previous == _NONE:
        owner.first = instance.next
    else:
        core.instances[instance.previous].next = instance.next
    if instance.next == _NONE:
        owner.last = instance.previous
    else:
        core.instances[instance.next].previous = instance.previous
    instance.listed = 0


@kernel
def remember_idle(core, host, index):
    """Append to the host's list of idle instances, least recently used first."""
    instance = core.instances[index]
    instance.lru_next = _NONE
    instance.lru_previous = host.lru_tail
    if host.lru_tail == _NONE:
        host.lru_head = index
    else:
        core.instances[host.lru_tail].lru_next = index
    host.lru_tail = index


@kernel
def forget_idle(core, host, index):
    """Take an instance out of the host's list of idle instances."""
    instance = core.instances[index]
    if instance.lru_previous == _NONE:
        host.lru_head = instance.lru_next
    else:
        core.instances[instance.lru_previous].lru_next = instance.lru_next
    if instance.lru_next == _NONE:
        host.lru_tail = instance.lru_previous
    else:
        core.instances[instance.lru_next].lru_previous = instance.lru_previous


@kernel
def enrol(core, index):
    """Enter a new instance in the lists of all instances of its function and of its host."""
    instance = core.instances[index]
    function = core.functions[instance.function]
    host = core.hosts[instance.host]
    instance.function_previous = _NONE
    instance.function_next = function.first_instance
    if function.first_instance != _NONE:
        core.instances[function.first_instance].function_previous = index
    function.first_instance = index
    instance.host_previous = _NONE
    instance.host_next = host.first_instance
    if host.first_instance != _NONE:
        core.instances[host.first_instance].host_previous = index
    host.first_instance = index


@kernel
def strike(core, index):
    """Take an instance that goes away out of the lists of all instances."""
    instance = core.instances[index]
    if instance.function_previous == _NONE:
        core.functions[instance.function].first_instance = instance.function_next
    else:
        core.instances[instance.function_previous].function_next = instance.function_next
    if instance.function_next != _NONE:
        core.instances[instance.function_next].function_previous = instance.function_previous
    if instance.host_previous == _NONE:
        core.hosts[instance.host].first_instance = instance.host_next
    else:
        core.instances[instance.host_previous].host_next = instance.host_next
    if instance.host_next != _NONE:
        core.instances[instance.host_next].host_previous = instance.host_previous


@kernel
def expect_on_host(core, host, slot):
    """Enter a request whose instance is being created: it will need the host's CPU soon."""
    request = core.active[slot]
    request.previous = _NONE
    request.next = host.pending
    if host.pending != _NONE:
        core.active[host.pending].previous = slot
    host.pending = slot


@kernel
def expect_no_more(core, host, slot):
    """Its instance is there, or never will be."""
    request = core.active[slot]
    if request.previous == _NONE:
        host.pending = request.next
    else:
        core.active[request.previous].next = request.next
    if request.next != _NONE:
        core.active[request.next].previous = request.previous
    request.next = _NONE
    request.previous = _NONE
