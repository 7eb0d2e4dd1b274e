"""Many runs in one compiled call: each goes on to its next decision.

Python keeps a run's arrays; here they are addresses and shapes in one table, and the bundles that the engine
wants are made of them inside the kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.cgutils import create_struct_proxy
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from trimtab.sim import records
from trimtab.sim.contract import PLACE, ROUTE
from trimtab.sim.engine import advance
from trimtab.sim.kernel import entry, kernel
from trimtab.sim.meters import meter_world
from trimtab.sim.state import Columns, Core, Mind

METERS = ("now", "inflight_seconds", "completed", "late", "failed", "rejected")
"""What ``advance_many`` reads off each run, in order."""
ENTRY = 3
"""Words of the table for an array, as ``Simulation.addresses`` writes them: address, length, width of a row."""

_WORLD, _HOST, _INSTANCE, _FUNCTION = records.WORLD, records.HOST, records.INSTANCE, records.FUNCTION
_POOL, _ACTIVE, _EVENT, _RESULT = records.POOL, records.ACTIVE, records.EVENT, records.RESULT
_STREAM, _LINK, _FAULT, _RUN = records.STREAM, records.LINK, records.FAULT, records.RUN
_COLUMNS, _MIND, _ROUTER, _FAULTS = 11, 23, 29, 35
"""Where each bundle begins in a row of the table; the core is first."""


def _read_array(dimensions: int) -> Any:
    """Kernels cannot use ``numba.carray``: a function that returns an array needs reference counts."""

    def typed(typing_context: Any, row: Any, position: Any, dtype: Any) -> Any:
        kind = types.Array(dtype.dtype, dimensions, "C")

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def word(number: int) -> Any:
                place = builder.add(first, context.get_constant(types.intp, number))
                return builder.load(builder.gep(table.data, [place]))

            first = builder.mul(arguments[1], context.get_constant(types.intp, ENTRY))
            table = context.make_array(row)(context, builder, value=arguments[0])
            array = context.make_array(kind)(context, builder)
            size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(dtype.dtype)))
            shape = [word(1), word(2)][:dimensions]
            strides = [size] if dimensions == 1 else [builder.mul(size, shape[1]), size]
            data = builder.inttoptr(word(0), array.data.type)
            populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
            return array._getvalue()

        return kind(row, types.intp, dtype), code

    return intrinsic(typed)


def _read_function(called: Any) -> Any:
    """An address as a function. To take one over from Python costs more than a decision, at every call."""
    kind = types.FunctionType(called)

    def typed(typing_context: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            function = create_struct_proxy(kind)(context, builder)
            function.c_addr = builder.inttoptr(arguments[0], function.c_addr.type)
            function.py_addr = function.jit_addr = context.get_constant_null(types.voidptr)
            return function._getvalue()

        return kind(types.intp), code

    return intrinsic(typed)


array_at = _read_array(1)
table_at = _read_array(2)
place_at = _read_function(PLACE)
route_at = _read_function(ROUTE)


@kernel
def core_at(row):
    """The bundle of what every event may touch."""
    return Core(
        array_at(row, 0, _WORLD), array_at(row, 1, _HOST), array_at(row, 2, _INSTANCE), array_at(row, 3, _FUNCTION),
        array_at(row, 4, _POOL), array_at(row, 5, _ACTIVE), array_at(row, 6, _EVENT), array_at(row, 7, _EVENT),
        array_at(row, 8, _RESULT), array_at(row, 9, np.int32), array_at(row, 10, np.int64),
    )  # fmt: skip


@kernel
def columns_at(row):
    """The bundle of inputs and series."""
    first = _COLUMNS
    return Columns(
        array_at(row, first, np.float64), array_at(row, first + 1, np.int32), array_at(row, first + 2, np.float64),
        array_at(row, first + 3, np.float64), array_at(row, first + 4, np.int32), array_at(row, first + 5, np.float64),
        array_at(row, first + 6, _STREAM), array_at(row, first + 7, _LINK), array_at(row, first + 8, _FAULT),
        table_at(row, first + 9, np.float64), table_at(row, first + 10, np.float32),
        array_at(row, first + 11, np.int32),
    )  # fmt: skip


@kernel
def mind_at(row, first):
    """The bundle of a policy."""
    return Mind(
        array_at(row, first, np.float64), array_at(row, first + 1, np.float64), array_at(row, first + 2, np.uint64),
        array_at(row, first + 3, np.float64), array_at(row, first + 4, np.int32), array_at(row, first + 5, _RUN),
    )  # fmt: skip


@entry
def advance_many(table, wanted, choose_address, route_address, budget, reasons, meters):
    """Take every run that is wanted to its next decision or its end; write why each stopped, and its meters."""
    choose, route = place_at(choose_address), route_at(route_address)
    for index in range(len(table)):
        if wanted[index] == 0:
            continue
        row = table[index]
        core = core_at(row)
        reasons[index] = advance(
            core, columns_at(row), mind_at(row, _MIND), choose, mind_at(row, _ROUTER), route,
            array_at(row, _FAULTS, np.uint64), np.inf, budget,
        )  # fmt: skip
        world = core.world[0]
        meter_world(world)
        values = meters[index]
        values[0], values[1], values[2] = world.now, world.inflight_seconds, world.completed
        values[3], values[4], values[5] = world.late, world.failed, world.rejected
