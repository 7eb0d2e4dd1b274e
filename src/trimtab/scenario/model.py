"""A scenario: hosts, functions, network, platform, workload and faults; frozen, in SI units."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from trimtab.scenario.checks import check_chains, check_names, check_platform, check_sites, check_sizes
from trimtab.scenario.units import Bytes, BytesPerSecond, Cores, Fraction, PerSecond, Seconds
from trimtab.scenario.workload import WorkloadSpec

Decision = Literal["place", "scale", "route", "assign", "select"]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Part(BaseModel):
    """Base of every part: unknown keys are errors, and nothing changes after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Hosts(Part):
    """``count`` equal machines."""

    name: Name
    count: int = Field(default=1, ge=1, le=1_000_000)
    cores: Cores
    memory: Bytes = Field(description="memory for functions")
    speed: Positive = 1.0
    effective_cores: Cores | None = Field(default=None, description="what all hyper-threads together yield, if less")
    disk: BytesPerSecond = 500e6
    network: BytesPerSecond = 1.25e9
    power: tuple[NotNegative, ...] | None = Field(default=None, description="watts at 0, 10 … 100 % CPU")
    price: NotNegative | None = Field(default=None, description="USD an hour")
    site: Name = "here"

    @model_validator(mode="after")
    def _eleven_watts(self) -> Self:
        if self.power is not None and len(self.power) != 11:
            raise ValueError(f"power has {len(self.power)} values, must have 11: watts at 0, 10 … 100 % CPU")
        return self


class Batch(Part):
    """Service by an instance with its own rate (a GPU variant): base + each · batch seconds."""

    size: int = Field(default=1, ge=1, le=1024)
    base: Seconds
    each: Seconds
    deviation: NotNegative = Field(default=0.0, description="coefficient of variation of the service time")


class Code(Part):
    """The real function that the live platform runs for a function of a scenario."""

    path: Name = Field(description="a .py file, a zip or a folder; or the name of one of examples/functions")
    args: dict[str, Any] = Field(default_factory=dict, description="arguments of every call")
    size: Name | None = Field(default=None, description="the argument that says how much work a call is")
    curve: tuple[tuple[NotNegative, NotNegative], ...] = Field(
        default=(), description="sizes and the core-seconds that calls of these sizes take, both rising"
    )

    @model_validator(mode="after")
    def _rising(self) -> Self:
        for before, after in pairwise(self.curve):
            if not (before[0] < after[0] and before[1] < after[1]):
                raise ValueError(f"curve: {list(after)} after {list(before)}, sizes and core-seconds must rise")
        return self


class Function(Part):
    """What is deployed: its size, its start, its work, its limits."""

    name: Name
    memory: Bytes = 256 * 2.0**20
    create: Seconds = Field(default=0.0, description="time to make a container; uses no core")
    init: Seconds = Field(default=0.0, description="core-seconds of initialisation after creation")
    init_off_cpu: Seconds = Field(default=0.0, description="part of initialisation that uses no core")
    work: Seconds = Field(default=0.1, description="mean core-seconds of a warm execution")
    work_deviation: NotNegative = Field(default=1.0, description="coefficient of variation of the work")
    distribution: Literal["exponential", "lognormal", "constant", "uniform"] = "exponential"
    off_cpu: Seconds = Field(default=0.0, description="seconds of an execution that use no core")
    parallelism: Cores | None = Field(default=1.0, description="cores one request can use at most; null: no cap")
    cpu: Cores | None = Field(default=None, description="cores of one instance (request and limit)")
    concurrency: int = Field(default=1, ge=1, le=10_000)
    deadline: Seconds | None = None
    batch: Batch | None = None
    next: Name | None = Field(default=None, description="the function that this one calls when it is done")
    site: Name | None = Field(default=None, description="where its instances may run; null: anywhere")
    task: Name | None = None
    accuracy: NotNegative | None = None
    instances: int | None = Field(default=None, ge=0, description="instances at the start of a run")
    network_bytes: Bytes = 0.0
    disk_bytes: Bytes = 0.0
    kind: Literal["managed", "blackbox"] = "managed"
    code: Code | None = Field(default=None, description="what the live platform runs; the simulator needs none")

    @model_validator(mode="after")
    def _deviation(self) -> Self:
        if self.distribution == "exponential" and self.work_deviation != 1:
            raise ValueError(
                f"work_deviation = {self.work_deviation}, must be 1 for the exponential distribution "
                "(lognormal and uniform take others)"
            )
        if self.distribution == "uniform" and self.work_deviation > 3**-0.5:
            raise ValueError(
                f"work_deviation = {self.work_deviation}, must be at most 0.57 for the uniform distribution"
            )
        return self


class Application(Part):
    """Streams of queries with one set of requirements (ASET)."""

    name: Name
    deadline: tuple[Seconds, Seconds] = Field(description="smallest and largest tolerated delay")
    rate: tuple[PerSecond, PerSecond] = Field(description="queries a second")
    duration: tuple[Seconds, Seconds]
    accuracy: NotNegative
    size: tuple[Bytes, Bytes] = (15e3, 60e3)
    task: Name = "detection"
    share: Positive = 1.0

    @model_validator(mode="after")
    def _ranges(self) -> Self:
        for field in ("deadline", "rate", "duration", "size"):
            low, high = getattr(self, field)
            if low > high:
                raise ValueError(f"{field} = [{low:g}, {high:g}], must not fall")
            if high <= 0 or (field == "rate" and low <= 0):
                raise ValueError(f"{field} = [{low:g}, {high:g}], must be above 0")
        return self


class Variant(Part):
    """A model variant: a model on a device with a batch size."""

    name: Name
    task: Name = "detection"
    accuracy: NotNegative
    batch: Batch
    resources: dict[str, NotNegative] = Field(default_factory=dict)


class Worker(Part):
    """Workers of one variant at one site."""

    site: Name
    variant: Name
    count: int = Field(default=1, ge=1, le=10_000)


class Site(Part):
    """A cluster somewhere in the network; capacity is a vector for the orchestrator."""

    name: Name
    capacity: dict[str, NotNegative] = Field(default_factory=dict)
    variants: tuple[Name, ...] | None = Field(default=None, description="which variants the orchestrator may use here")


class Link(Part):
    """Network from a source (scheduler) to a site, one way."""

    source: Name = "here"
    site: Name
    delay: Seconds
    deviation: Seconds = 0.0
    bandwidth: BytesPerSecond = 1.25e9


class Network(Part):
    """Who is how far from whom."""

    access: Seconds = Field(default=0.0, description="mean one-way delay from a client to its scheduler")
    access_deviation: Seconds = 0.0
    access_bandwidth: BytesPerSecond = 12.5e6
    links: tuple[Link, ...] = ()


class KeepAlive(Part):
    """How long an idle instance stays."""

    policy: Literal["fixed", "hybrid-histogram"] = "fixed"
    seconds: Seconds = 600.0
    range: Seconds = Field(default=14_400.0, description="hybrid-histogram: longest idle time that it counts")
    head: Fraction = 0.05
    tail: Fraction = 0.99
    margin: Fraction = 0.10


class Platform(Part):
    """How invocations meet instances."""

    dispatch: Literal["host", "cluster", "interval"] = Field(
        default="host",
        description="host: each invocation is placed on a host (OpenWhisk); cluster: an idle instance "
        "anywhere first, then a queue by function; interval: tasks are assigned every interval",
    )
    instances: Literal["on-demand", "controlled"] = "on-demand"
    keep_alive: KeepAlive = KeepAlive()
    cpu: Literal["sharing", "fifo"] = "sharing"
    weights: Literal["memory", "equal"] = "equal"
    serial_creation: bool = Field(default=False, description="a host makes one container at a time")
    queue_limit: int | None = Field(default=None, ge=0, description="requests a queue holds; null: no limit")
    managed_share: Fraction = Field(default=1.0, description="share of invokers that OpenWhisk's hashing uses")
    warm_counts: Literal["function", "all"] = Field(
        default="function", description="what static-rank and FaaSRank take as warm infrastructures"
    )
    sample_every: Seconds = Field(default=0.1, description="interval of the host metrics that a policy sees")
    hibernate: bool = Field(default=False, description="an idle host sleeps, and must wake before it works")
    wake: Seconds = 0.0
    hibernated_power: NotNegative = 0.0


class Control(Part):
    """The loop around scale, assign and select policies."""

    period: Seconds | None = Field(default=None, description="null: the policy's own")
    metrics_delay: Seconds = 0.0
    minimum: int = Field(default=1, ge=0)
    maximum: int = Field(default=1000, ge=1)
    interval: Seconds = Field(default=10.0, description="of assign decisions")
    window: Seconds = Field(default=10.0, description="of select decisions; over assign policies it is the interval")
    cpu_minimum: Cores = 0.05
    cpu_maximum: Cores = 64.0

    @model_validator(mode="after")
    def _limits(self) -> Self:
        for what in ("minimum", "maximum"), ("cpu_minimum", "cpu_maximum"):
            low, high = getattr(self, what[0]), getattr(self, what[1])
            if low > high:
                raise ValueError(f"{what[0]} = {low}, must be at most {what[1]} = {high}")
        return self


class Scheduling(Part):
    """Assign policies run as serverless functions: what a decision costs, and what delays it."""

    memory: Bytes = Field(default=1769 * 2.0**20, description="of the function that a scheduler runs in")
    gb_second: NotNegative = Field(default=1.66667e-5, description="USD for a GiB of memory for a second")
    call: NotNegative = Field(default=2e-7, description="USD for each call")
    latency: Seconds = Field(default=0.0, description="of a call, the scheduler's own run aside")
    storage: BytesPerSecond = Field(default=100e6, description="at which a host reads a selector's weights")
    runtime: str | None = Field(default=None, description="file of trimtab calibrate schedulers; null: the one shipped")


class Fault(Part):
    """Something breaks, at a time or at a rate."""

    kind: Literal["host-down", "instance-crash", "metrics-stale", "site-cut"]
    at: Seconds | None = None
    rate: PerSecond | None = Field(default=None, description="mean number of such faults a second")
    lasts: Seconds = 30.0
    host: int | None = Field(default=None, ge=0, description="index of the host; null: drawn")
    site: Name | None = None

    @model_validator(mode="after")
    def _when(self) -> Self:
        if (self.at is None) == (self.rate is None):
            raise ValueError("must have one of 'at' and 'rate'")
        return self


class Scenario(Part):
    """All that a run needs, policies aside."""

    name: Name
    description: str = ""
    decision: Decision = "place"
    baseline: Name | None = Field(default=None, description="the policy that others are compared with")
    policies: dict[Decision, Name] = Field(
        default_factory=dict, description="who takes the decisions that are not being compared"
    )
    parameters: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="parameters of a policy, by its name"
    )
    hosts: tuple[Hosts, ...] = Field(min_length=1)
    functions: tuple[Function, ...] = ()
    applications: tuple[Application, ...] = ()
    variants: tuple[Variant, ...] = ()
    sites: tuple[Site, ...] = ()
    workers: tuple[Worker, ...] = ()
    network: Network = Network()
    platform: Platform = Platform()
    control: Control = Control()
    scheduling: Scheduling | None = Field(default=None, description="null: decisions are free and take no time")
    faults: tuple[Fault, ...] = ()
    workload: WorkloadSpec
    violation_price: NotNegative = Field(default=0.0, description="USD for a missed deadline")
    notes: tuple[str, ...] = Field(default=(), description="what is assumed, and where a figure comes from")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_names(self)
        check_chains(self)
        check_sites(self)
        check_platform(self)
        check_sizes(self)
        return self
