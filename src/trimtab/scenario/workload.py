"""Where a scenario's requests come from: one model per source, told apart by ``source``."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from trimtab.scenario.units import PerSecond, Seconds

Share = Annotated[float, Field(ge=0)]
Length = Annotated[Seconds, Field(gt=0)]
Spread = Literal["even", "poisson", "clustered"]


class _Source(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    warm_up: Seconds = Field(default=0.0, description="requests before this are simulated, not reported")


def _just_one(source: _Source, first: str, second: str) -> None:
    if (getattr(source, first) is None) == (getattr(source, second) is None):
        raise ValueError(f"must have one of {first!r} and {second!r}")


class PoissonSpec(_Source):
    """Independent Poisson arrivals to every function of the scenario."""

    source: Literal["poisson"] = "poisson"
    rate: PerSecond = Field(description="all functions together")
    duration: Length | None = None
    requests: int | None = Field(default=None, ge=1, le=200_000_000, description="stop after so many instead")
    shares: dict[str, Share] = Field(default_factory=dict, description="relative rate of a function")

    @model_validator(mode="after")
    def _length(self) -> Self:
        _just_one(self, "duration", "requests")
        return self


class BurstsSpec(_Source):
    """A Markov-modulated Poisson process: calm and burst alternate, by function."""

    source: Literal["bursts"]
    rate: PerSecond = Field(description="mean rate, all functions together")
    duration: Length
    burst_factor: float = Field(default=10.0, gt=1, description="rate in a burst over the rate when calm")
    burst: Length = Field(default=10.0, description="mean length of a burst")
    calm: Length = Field(default=90.0, description="mean length of a calm")
    shares: dict[str, Share] = Field(default_factory=dict)


class DailySpec(_Source):
    """A daily cycle with spikes on top; offered load peaks at ``peak_load`` (Erlang) or ``peak_rate``."""

    source: Literal["daily"]
    peak_rate: PerSecond | None = None
    peak_load: float | None = Field(default=None, gt=0, description="Erlang: peak rate × mean work")
    trough: float = Field(default=0.2, ge=0, le=1, description="lowest rate over highest, spikes aside")
    cycle: Length = 86_400.0
    duration: Length
    spikes: float = Field(default=6.0, ge=0, description="mean number of spikes in a cycle")
    spike_height: float = Field(default=1.0, ge=0, description="added at most, as a share of the peak")
    spike_length: Seconds = 120.0
    draw: int = Field(default=1, ge=0, description="which spikes; a seed redraws arrivals only")

    @model_validator(mode="after")
    def _peak(self) -> Self:
        _just_one(self, "peak_rate", "peak_load")
        return self


class AzureLikeSpec(_Source):
    """Rates, burstiness and durations drawn to match the published statistics of Azure Functions 2019."""

    source: Literal["azure-like"]
    rate: PerSecond = Field(description="mean rate, all functions together")
    duration: Length
    population: int = Field(default=1, ge=0, description="which draw of rates; a seed redraws arrivals only")
    functions: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="draw so many functions too, where the scenario lists none",
    )
    spread: Spread = "poisson"


class Azure2019Spec(_Source):
    """The Azure Functions 2019 CSV files, as published; a folder or one invocations file."""

    source: Literal["azure-2019"]
    path: str
    spread: Spread = "poisson"
    first_minute: int | None = Field(default=None, ge=0, description="of those in the file; null: its first")
    last_minute: int | None = Field(default=None, ge=0)
    whole: bool = Field(default=False, description="every function, not a sample of at most 5 million requests")


class FaaSRankSpec(_Source):
    """Ten Azure traces drawn at random, minutes read as seconds, each mapped to a function."""

    source: Literal["faasrank"]
    calls: int = Field(ge=1)
    duration: Length
    draw: int = Field(default=1, ge=0, description="which ten traces; a seed redraws arrivals and work only")
    path: str | None = Field(default=None, description="Azure 2019 folder; null: Azure-like traces")
    rate_deviation: float = Field(default=0.35, ge=0, description="CV of the functions' rates")


class Azure2021Spec(_Source):
    """Azure Functions 2021: app, func, end_timestamp, duration."""

    source: Literal["azure-2021"]
    path: str


class AzureLlmSpec(_Source):
    """Azure LLM inference: TIMESTAMP, ContextTokens, GeneratedTokens."""

    source: Literal["azure-llm"]
    path: str
    seconds_per_context_token: Seconds = 0.0001
    seconds_per_generated_token: Seconds = 0.02


class RequestsSpec(_Source):
    """A row a request: arrival, function, work (and optionally off_cpu) as CSV or Parquet."""

    source: Literal["requests"]
    path: str


class CountsSpec(_Source):
    """Counts per second or minute of one service; scaled to the scenario's peak."""

    source: Literal["counts"]
    path: str
    peak_load: float | None = Field(default=None, gt=0, description="Erlang at the 99.9th-percentile minute")
    peak_rate: PerSecond | None = Field(default=None, description="requests a second at that minute instead")
    spread: Spread = "poisson"
    whole: bool = Field(default=False, description="all of it, not evenly spaced two-hour windows")

    @model_validator(mode="after")
    def _peak(self) -> Self:
        if self.peak_load is not None and self.peak_rate is not None:
            raise ValueError("must have at most one of 'peak_load' and 'peak_rate'")
        return self


class RateStep(BaseModel):
    """From ``at`` on, ``rate`` clients a minute arrive."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    at: Seconds
    rate: float = Field(gt=0)


class TaskStep(RateStep):
    """From ``at`` on, ``rate`` tasks an interval arrive, in a mix that may differ from the one before."""

    shares: dict[str, Share] = Field(default_factory=dict, description="relative rate of a function; empty: as before")


class StreamsSpec(_Source):
    """ASET's clients: Poisson arrivals of streams, ``rate`` clients a minute for each source."""

    source: Literal["streams"]
    rate: float = Field(default=60.0, gt=0, description="clients a minute for each source, lambda")
    duration: Length = Field(default=720.0, description="warm-up included")
    longest: Length = Field(default=110.0, description="streams are cut at this length")
    steps: tuple[RateStep, ...] = Field(default=(), description="changes of the rate during the run")
    sources: tuple[str, ...] = Field(default=("antenna",), min_length=1)


class TasksSpec(_Source):
    """AIoTBench-like batch tasks: Poisson number of tasks an interval."""

    source: Literal["tasks"]
    rate: float = Field(default=1.2, gt=0, description="tasks an interval")
    interval: Length = 10.0
    duration: Length
    shares: dict[str, Share] = Field(default_factory=dict, description="relative rate of a function")
    steps: tuple[TaskStep, ...] = Field(default=(), description="changes of rate and mix during the run")
    sources: dict[str, Share] = Field(
        default_factory=dict,
        description="gateways, relative numbers of tasks; empty: those of network.links, all alike",
    )

    @model_validator(mode="after")
    def _some_gateway(self) -> Self:
        if self.sources and not sum(self.sources.values()) > 0:
            raise ValueError("sources: all shares are 0, at least one must be above")
        return self


WorkloadSpec = Annotated[
    PoissonSpec | BurstsSpec | DailySpec | AzureLikeSpec | Azure2019Spec | FaaSRankSpec | Azure2021Spec
    | AzureLlmSpec | RequestsSpec | CountsSpec | StreamsSpec | TasksSpec,
    Field(discriminator="source"),
]  # fmt: skip
"""Any of the sources."""
