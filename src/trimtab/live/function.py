"""A deployed function: its code, its limits, and what is counted of it."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from trimtab.live.latency import Latency
from trimtab.scenario.model import Function
from trimtab.sim.records import DRAINING

if TYPE_CHECKING:
    from trimtab.live.servers import Instance, Invocation

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
NAME_RULE = "must be 1 to 63 letters, digits, '-' or '_', the first a letter or digit"
LARGEST_CODE = 16 * 2**20
"""Bytes of a module, or of a zip before it is put in base64."""
_MIB = 2**20
_LOG_LINES = 500


class FunctionSpec(BaseModel):
    """What a deployment says."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    code: Annotated[str, Field(min_length=1, max_length=LARGEST_CODE)] | None = Field(
        default=None, description="the text of a Python module"
    )
    zip: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="a zip with __main__.py of at most 16 MiB, in base64"
    )
    main: str = Field(default="main", pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$", description="the function to call")
    memory_mb: int = Field(default=256, ge=32, le=65_536, description="an instance that needs more is killed")
    timeout_s: float = Field(default=60.0, ge=0.01, le=3_600.0, description="of one call; init has as much")
    concurrency: int = Field(default=1, ge=1, le=100, description="calls that one instance serves at the same time")
    cpu: float | None = Field(default=None, ge=0.01, le=1024.0, description="cores of one instance; null: no limit")
    output_limit: int = Field(default=_MIB, ge=0, le=64 * _MIB, description="bytes that one call may print")
    result_limit: int = Field(default=_MIB, ge=2, le=64 * _MIB, description="bytes of a result")
    disk_mb: int = Field(default=64, ge=1, le=4_096, description="of an instance's own temporary folder")
    processes: int = Field(default=64, ge=1, le=4_096, description="processes and threads of one instance")
    chain: bool = Field(default=False, description='whether a result with "next": NAME is passed to that function')
    env: dict[str, str] = Field(default_factory=dict, max_length=100)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.code is None) == (self.zip is None):
            raise ValueError("must have one of 'code' and 'zip'")
        if any("=" in name or "\0" in name + value or not name for name, value in self.env.items()):
            raise ValueError("env: names must not be empty or hold '=', neither may hold a zero byte")
        return self

    @property
    def memory(self) -> float:
        """Bytes of one instance."""
        return float(self.memory_mb * _MIB)


@dataclass
class Counters:
    """Since the start of the gateway."""

    arrivals: int = 0
    completions: int = 0
    failures: int = 0
    cold_starts: int = 0
    violations: int = 0


@dataclass(eq=False)
class Deployed:
    """A function while it is deployed."""

    name: str
    spec: FunctionSpec
    figures: Function
    """What policies reckon with: from the scenario where it names the function, else from the deployment."""
    index: int
    number: int
    """Of the deployment: an instance of an older one takes no new calls."""
    cpu: float | None = None
    memory: float = 0.0
    """Of an instance, as last scaled."""
    wanted: int = 0
    """Instances that were asked for: so many do not expire, and are started again when they go."""
    pause: float = 0.0
    resume: float = 0.0
    """Seconds between starts that fail, and when those that are wanted may be tried again."""
    counters: Counters = field(default_factory=Counters)
    latency: Latency = field(default_factory=Latency)
    inflight: int = 0
    queue: deque[Invocation] = field(default_factory=deque)
    """Calls that wait for any instance, where they are not placed one by one."""
    instances: dict[int, Instance] = field(default_factory=dict)
    cpu_ended: float = 0.0
    """Core-seconds of instances that have ended, as last sampled: their own counters went with them."""
    logs: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_LOG_LINES))
    removed: bool = False
    successor: Deployed | None = None
    """The version that replaced it."""
    resizing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.cpu, self.memory = self.spec.cpu, self.spec.memory

    @property
    def staying(self) -> list[Instance]:
        """Its instances but for those that go with their last call."""
        return [each for each in self.instances.values() if each.state != DRAINING]

    @property
    def cpu_seconds(self) -> float:
        """Core-seconds of all its instances, those that have ended included: it never falls."""
        return self.cpu_ended + sum(each.cpu_seconds for each in self.instances.values())

    def describe(self) -> dict[str, Any]:
        """For ``GET /v1/functions``."""
        spec = self.spec.model_dump(exclude={"code", "zip", "env"})
        return {"name": self.name, **spec, "cpu": self.cpu, "memory_mb": int(self.memory / _MIB)}


def figures_of(name: str, spec: FunctionSpec, known: Function | None) -> Function:
    """What policies reckon with; a function that no scenario describes is taken for a short one."""
    if known is not None:
        return known.model_copy(
            update={"memory": spec.memory, "concurrency": spec.concurrency, "next": None, "site": None}
        )
    return Function(
        name=name, memory=spec.memory, create=0.02, init=0.05, work=0.05, concurrency=spec.concurrency,
        deadline=None,
    )  # fmt: skip
