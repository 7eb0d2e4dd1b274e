"""The meters of one run, read as ``sim.batch`` reads those of many."""

from __future__ import annotations

from trimtab.sim.kernel import entry
from trimtab.sim.meters import meter_world


@entry
def read_meters(worlds, values):
    """Bring the cluster's integrals up to now and write them to ``values``, in the order of ``batch.METERS``."""
    world = worlds[0]
    meter_world(world)
    values[0], values[1], values[2] = world.now, world.inflight_seconds, world.completed
    values[3], values[4], values[5] = world.late, world.failed, world.rejected
