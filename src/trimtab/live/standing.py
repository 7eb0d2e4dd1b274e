"""Orders that outlive a gateway: which policies decide, and which functions of the scenario are wanted no more."""

from __future__ import annotations

import json
import logging

from trimtab.errors import TrimtabError
from trimtab.live.ledger import Ledger
from trimtab.live.platform import Platform

_POLICIES = "policies"

log = logging.getLogger("trimtab.live")


class StandingOrders:
    """What was ordered over HTTP, in the ledger."""

    def __init__(self, platform: Platform, ledger: Ledger) -> None:
        self.platform, self.ledger = platform, ledger
        # a folder for each ``trimtab live``: what its command line says stands until something else is ordered
        self._run = platform.settings.folder.name
        self._removed = f"removed/{platform.scenario.name}/"

    async def keep_policies(self) -> None:
        """Remember who decides now."""
        platform = self.platform
        shadow, scale_shadow = platform.placer.shadow, platform.scaling.shadow
        chosen = {
            "run": self._run, "place": platform.placer.seat.policy.name, "scale": platform.scaling.name,
            "select": platform.selecting.name, "shadow": None if shadow is None else shadow.seat.policy.name,
            "scale_shadow": None if scale_shadow is None else scale_shadow.guard.policy.name,
        }  # fmt: skip
        await self.ledger.order(_POLICIES, json.dumps(chosen))

    async def restore_policies(self) -> None:
        """Those of an earlier gateway of the same ``trimtab live`` decide again."""
        kept = json.loads((await self.ledger.orders()).get(_POLICIES, "{}"))
        if kept.get("run") != self._run:
            return
        platform = self.platform
        try:
            platform.switch_place(kept["place"])
            platform.placer.set_shadow(kept["shadow"])
            platform.scaling.switch(kept["scale"])
            platform.scaling.set_shadow(kept["scale_shadow"])
            platform.selecting.switch(kept["select"])
        except (TrimtabError, KeyError) as error:
            log.warning("policies not restored", extra={"reason": str(error)})

    async def keep_removal(self, function: str) -> None:
        """It does not come back with the next gateway."""
        await self.ledger.order(self._removed + function, "removed")

    async def drop_removal(self, function: str) -> None:
        """It was deployed again."""
        await self.ledger.order(self._removed + function, None)

    async def removed(self) -> set[str]:
        """Functions of the scenario that are not to be deployed."""
        orders = await self.ledger.orders()
        return {name.removeprefix(self._removed) for name in orders if name.startswith(self._removed)}
