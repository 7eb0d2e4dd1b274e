"""``/v1``: observe and act. The environment and actuator of whoever decides, and of the dashboard."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.live.answers import LARGEST_BODY, complaint, number_of, read
from trimtab.live.checking import check_source
from trimtab.live.demo import Demo
from trimtab.live.failure import CallFailed
from trimtab.live.function import NAME, NAME_RULE, FunctionSpec
from trimtab.live.invoking import Invoking
from trimtab.live.ledger import Ledger
from trimtab.live.platform import Platform
from trimtab.live.selecting import SELECTORS, selection_of
from trimtab.live.sizing import check_cpu, check_memory, resize
from trimtab.live.standing import StandingOrders
from trimtab.policies import registry

_MIB = 2**20
_MOST_INSTANCES = 1_000


class Order(BaseModel):
    """Base of what may be ordered: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class PolicyOrder(Order):
    """``POST /v1/policy``."""

    decision: Literal["place", "scale", "select"] = "place"
    policy: str | None = Field(max_length=200, description="its name; null ends the shadow, scaling or selecting")
    shadow: bool = Field(default=False, description="whether it decides without acting")


class ScaleOrder(Order):
    """``POST /v1/scale``."""

    function: str = Field(max_length=100)
    instances: int | None = Field(default=None, ge=0, le=_MOST_INSTANCES)
    cpu: float | None = Field(default=None, ge=0.01, le=1_024, description="cores of one instance")
    memory: int | None = Field(default=None, ge=32 * _MIB, le=2**40, description="bytes of one instance")


class DemoOrder(Order):
    """``POST /v1/demo``."""

    scenario: str | None = Field(default=None, max_length=200, description="a preset; null: the platform's own")
    seconds: float = Field(default=30.0, ge=1.0, le=600.0)


Endpoint = Callable[[Request], Awaitable[Response]]


class ControlApi:
    """Endpoints over a platform."""

    def __init__(
        self, platform: Platform, ledger: Ledger, invoking: Invoking, demo: Demo, standing: StandingOrders
    ) -> None:
        self.platform, self.ledger, self.invoking, self.demo = platform, ledger, invoking, demo
        self.standing = standing
        self._preparing = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Every path below ``/v1``."""
        table: list[tuple[str, str, Endpoint]] = [
            ("/v1/state", "GET", self.state), ("/v1/history", "GET", self.history),
            ("/v1/decisions", "GET", self.decisions), ("/v1/policies", "GET", self.policies),
            ("/v1/policy", "POST", self.policy), ("/v1/scale", "POST", self.scale),
            ("/v1/functions", "GET", self.functions), ("/v1/functions/{name}/logs", "GET", self.logs),
            ("/v1/activations/{name}", "GET", self.activation), ("/v1/ledger", "GET", self.counts),
        ]  # fmt: skip
        several: list[tuple[str, dict[str, Endpoint]]] = [
            ("/v1/functions/{name}", {"PUT": self.deploy, "DELETE": self.remove, "GET": self.function}),
            ("/v1/demo", {"POST": self.start_demo, "DELETE": self.stop_demo, "GET": self.tell_demo}),
        ]
        return [
            *(Route(path, answering({method: endpoint}), methods=[method]) for path, method, endpoint in table),
            *(Route(path, answering(each), methods=list(each)) for path, each in several),
        ]

    async def state(self, _: Request) -> Response:
        """The snapshot that every policy sees."""
        return JSONResponse(self.platform.metering.state())

    async def history(self, request: Request) -> Response:
        """The last seconds, one row each."""
        return JSONResponse(self.platform.history.since(number_of(request, "seconds", 600.0, 1.0, 3_600.0)))

    async def decisions(self, request: Request) -> Response:
        """What was decided, by whom and why."""
        after, limit = number_of(request, "after", 0, 0, 2**53), number_of(request, "limit", 100, 1, 1_000)
        return JSONResponse({"decisions": self.platform.audit.after(int(after), int(limit))})

    async def policies(self, _: Request) -> Response:
        """Policies that can be switched to."""
        name = self.platform.scenario.name
        found = {decision: list(registry.names(decision, name)) for decision in ("place", "scale")}
        return JSONResponse(found | {"select": list(SELECTORS)})

    async def policy(self, request: Request) -> Response:
        """Switch a policy, or set a shadow."""
        order = await read(request, PolicyOrder)
        if order.shadow and order.decision == "select":
            raise CallFailed(
                422, "shadow = true, must be false for decision 'select': what calls would have come to under another "
                "choice is not known; place and scale have a shadow",
            )  # fmt: skip
        try:
            if order.policy is not None:
                self._check(order.decision, order.policy)
                await self._prepare(order.decision, order.policy)
            note = self._switch(order)
        except TrimtabError as error:
            raise CallFailed(422, str(error)) from None
        await self.standing.keep_policies()
        answer = self.platform.metering.deciders()
        return JSONResponse(answer if note is None else answer | {"note": note})

    def _check(self, decision: str, policy: str) -> None:
        """Whether there is such a policy: a file or folder named over HTTP would be code from outside."""
        if decision == "select":
            selection_of(self.platform.scenario, policy)
        elif policy not in registry.names(decision):
            known = registry.names(decision, self.platform.scenario.name)
            hint = did_you_mean(policy, known)
            raise TrimtabError(f"policy = {policy!r}, must be one of: {', '.join(known)}{hint}")

    async def _prepare(self, decision: str, policy: str) -> None:
        """Compile what will place calls in a thread: the first time may take a minute, and calls must go on."""
        if decision == "scale":
            return
        load = self.platform.placer.seat_of if decision == "place" else self.platform.selecting.prepare
        async with self._preparing:
            await asyncio.to_thread(load, policy)

    def _switch(self, order: PolicyOrder) -> str | None:
        """Carry it out; returns what else the caller should know."""
        platform = self.platform
        if order.decision == "scale":
            decide = platform.scaling.set_shadow if order.shadow else platform.scaling.switch
            decide(order.policy)
        elif order.decision == "select":
            platform.selecting.switch(order.policy)
            if order.policy is None:
                return f"{platform.placer.seat.policy.name} goes on placing calls"
        elif order.shadow:
            platform.placer.set_shadow(order.policy)
        elif order.policy is None:
            raise CallFailed(422, "policy = null, must be the name of a place policy")
        else:
            return self._place_by_hand(order.policy)
        return None

    def _place_by_hand(self, policy: str) -> str | None:
        """A person's word stands: a selector would undo it with the next window."""
        selector = self.platform.selecting.name
        self.platform.selecting.switch(None)
        self.platform.switch_place(policy)
        return None if selector is None else f"{selector} no longer selects: the place policy was switched by hand"

    async def scale(self, request: Request) -> Response:
        """Change the instances of a function, or what each may use."""
        order = await read(request, ScaleOrder)
        function = self.invoking.function(order.function)
        try:
            check_cpu(self.platform.servers, order.cpu)
            check_memory(self.platform.servers, "memory", order.memory or 0)
        except TrimtabError as error:
            raise CallFailed(422, str(error)) from None
        if order.cpu is not None or order.memory is not None:
            await resize(self.platform, function, order.cpu, order.memory)
        missing = 0
        if order.instances is not None:
            missing = self.platform.pool.scale(function, order.instances)
        self.platform.audit.note("scale", function.name, "by hand", order.instances, [], None, 0.0)
        return JSONResponse(
            {"function": function.name, "instances": len(function.instances), "missing": missing, "cpu": function.cpu,
             "memory": function.memory}
        )  # fmt: skip

    async def functions(self, _: Request) -> Response:
        """Everything that is deployed."""
        return JSONResponse({"functions": [each.describe() for each in self.platform.functions.values()]})

    async def function(self, request: Request) -> Response:
        """One deployment."""
        return JSONResponse(self.invoking.function(request.path_params["name"]).describe())

    async def deploy(self, request: Request) -> Response:
        """Deploy a function, or replace it."""
        name = request.path_params["name"]
        if not NAME.fullmatch(name):
            raise CallFailed(422, f"name = {name[:100]!r}, {NAME_RULE}")
        spec = await read(request, FunctionSpec, LARGEST_BODY)
        await check_source(spec)
        try:
            found = self.platform.deploy(name, spec)
        except TrimtabError as error:
            raise CallFailed(422, str(error)) from None
        await self.ledger.deploy(name, spec.model_dump_json())
        await self.standing.drop_removal(name)
        return JSONResponse(found.describe(), 201)

    async def remove(self, request: Request) -> Response:
        """Remove a function."""
        name = self.invoking.function(request.path_params["name"]).name
        self.platform.remove(name)
        await self.standing.keep_removal(name)
        await self.ledger.remove(name)
        return JSONResponse({"removed": name})

    async def logs(self, request: Request) -> Response:
        """What a function printed."""
        function = self.invoking.function(request.path_params["name"])
        limit = int(number_of(request, "limit", 100, 1, 500))
        return JSONResponse({"logs": list(function.logs)[-limit:]})

    async def activation(self, request: Request) -> Response:
        """An asynchronous call."""
        found = await self.ledger.find(request.path_params["name"])
        if found is None:
            raise CallFailed(404, f"activation = {request.path_params['name'][:100]!r} is not known")
        result = found.pop("result")
        found = {"activation": found.pop("id"), **{name: value for name, value in found.items() if value is not None}}
        text = json.dumps(found).encode()
        if result is not None:  # as it was checked and stored: to read and write it again could only change it
            text = text[:-1] + b', "result": ' + result + b"}"
        return Response(text, media_type="application/json")

    async def counts(self, _: Request) -> Response:
        """How many asynchronous calls are in which state."""
        return JSONResponse(await self.ledger.counts())

    async def start_demo(self, request: Request) -> Response:
        """Start a demo load."""
        order = await read(request, DemoOrder)
        try:
            self.demo.start(order.scenario, order.seconds)
        except TrimtabError as error:
            raise CallFailed(422, str(error)) from None
        return JSONResponse(self.demo.describe(), 202)

    async def stop_demo(self, _: Request) -> Response:
        """End it."""
        self.demo.stop()
        return JSONResponse(self.demo.describe())

    async def tell_demo(self, _: Request) -> Response:
        """Whether one runs."""
        return JSONResponse(self.demo.describe())


def answering(endpoints: dict[str, Endpoint]) -> Endpoint:
    """One endpoint of several methods, whose failures are answers."""

    async def answer(request: Request) -> Response:
        endpoint = endpoints.get(request.method) or endpoints["GET"]  # HEAD
        try:
            return await endpoint(request)
        except CallFailed as error:
            return complaint(error.status, error.message)
        except sqlite3.Error as error:
            return complaint(503, f"the ledger cannot be read or written: {error}")
        except ClientDisconnect:
            return complaint(499, "the caller has gone")

    return answer
