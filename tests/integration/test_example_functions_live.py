"""The example functions on the real platform: in their sandboxes they answer what they answer here."""

from __future__ import annotations

import pytest
from tests.example_functions import FOLDER, index, load
from tests.live_platform import running_platform

from trimtab.live.packing import pack

CHAIN = [name for name in index() if name.startswith("hotel-")]
COMPILES = {"scheduler"}
"""Takes longer to start than half a core allows for: test_live_scheduler has it on a larger server."""


def test_every_function_answers_the_same_on_the_platform() -> None:
    for library in ("PIL", "av", "jinja2", "onnxruntime", "sklearn"):
        pytest.importorskip(library)
    with running_platform() as platform:
        client = platform.client()
        for name, entry in index().items():
            memory = int(entry["memory"].removesuffix(" MiB"))
            order = {"memory_mb": memory, "chain": name in CHAIN}
            client.deploy(name, pack(FOLDER / entry["code"]) | order)
        for name in index().keys() - set(CHAIN) - COMPILES:
            # 250 is a size that all of them take, fibonacci aside
            args = {"size": 250 if name != "fibonacci" else 20}
            assert client.call(name, args).result == load(name).main(args), name
        # the gateway follows the chain: hotels 0 to 4 are nearest, 0 is the cheapest, at 96 on Friday and Saturday
        answer = client.call("hotel-frontend", {"latitude": 37.7749, "longitude": -122.4194}).result
        assert answer == {"booked": "Grand Hotel", "hotel": 0, "room": 0, "cents": 19_200}
