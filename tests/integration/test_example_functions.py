"""The functions in ``examples/functions`` compute what they say: every result is checked by other means."""

from __future__ import annotations

import base64
import email
import email.policy
import hashlib
import io
import itertools
import json
import math
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.example_functions import FOLDER, index, load

np = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

CHAIN = ["hotel-search", "hotel-geo", "hotel-rate", "hotel-profile", "hotel-reserve"]
TABLE_II = {
    "dynamic-html": 512, "email-generation": 256, "image-processing": 256, "video-processing": 512,
    "image-recognition": 512, "k-nearest-neighbors": 512, "gradient-descent": 512, "alu": 256, "merge-sorting": 256,
    "dna-visualisation": 512,
}  # fmt: skip


def test_the_index_lists_every_function_and_the_memory_of_table_ii() -> None:
    listed = index()
    on_disk = {each.name for each in FOLDER.iterdir() if each.suffix == ".py"} | {
        each.parent.name for each in FOLDER.glob("*/__main__.py")
    }
    assert {entry["code"] for entry in listed.values()} == on_disk
    assert {name: listed[name]["memory"] for name in TABLE_II} == {
        name: f"{memory} MiB" for name, memory in TABLE_II.items()
    }


@pytest.mark.parametrize("name", sorted(index()))
def test_the_same_arguments_give_the_same_json(name: str, tmp_path: Path) -> None:
    module, args = load(name), index()[name]["args"]
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    answers = [module.main({**args, "folder": str(folder)}) for folder in (first, second)]
    for answer in answers:
        answer.pop("folder", None)
    assert json.dumps(answers[0]) == json.dumps(answers[1])
    assert "error" not in answers[0]
    assert [path.read_bytes() for path in sorted(first.iterdir())] == [
        path.read_bytes() for path in sorted(second.iterdir())
    ]


def test_fibonacci() -> None:
    main = load("fibonacci").main
    pair = (0, 1)
    for size in range(16):
        assert main({"size": size}) == {"size": size, "value": pair[0]}
        pair = (pair[1], sum(pair))
    assert main({"size": 36}) == {"error": "size = 36, must be 0 to 35"}


class Rows(HTMLParser):
    """Texts of the cells of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.inside = tag == "td"

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells.append(data)


def test_dynamic_html(tmp_path: Path) -> None:
    answer = load("dynamic-html").main({"size": 7, "seed": 3, "folder": str(tmp_path)})
    page = (tmp_path / answer["object"]).read_bytes()
    assert len(page) == answer["bytes"]
    assert hashlib.sha256(page).hexdigest() == answer["sha256"]
    parser = Rows()
    parser.feed(page.decode())
    # names hold < and >: they come through escaping as they were
    assert parser.cells[::2] == [f"<item {number}>" for number in range(7)]
    assert sum(int(value) for value in parser.cells[1::2]) == answer["total"]
    assert f"<p>Total: {answer['total']}</p>" in page.decode()
    assert "<h1>7 items &amp; their values</h1>" in page.decode()


def test_email_generation(tmp_path: Path) -> None:
    answer = load("email-generation").main({"size": 3, "folder": str(tmp_path)})
    box = (tmp_path / "outbox.mbox").read_bytes()
    assert (answer["messages"], answer["bytes"]) == (3, len(box))
    parts = box.split(b"From shop@example.org\n")[1:]
    messages = [email.message_from_bytes(part, policy=email.policy.default) for part in parts]
    assert [message["To"] for message in messages] == [f"customer{number}@example.org" for number in range(3)]
    for number, message in enumerate(messages):
        text, html = message.get_body(("plain",)), message.get_body(("html",))
        assert text is not None and html is not None
        assert f"your order {number:06d} of " in text.get_content()
        assert f"your order {number:06d} of " in html.get_content()


def test_image_processing(tmp_path: Path) -> None:
    module = load("image-processing")
    answer = module.main({"size": 96, "folder": str(tmp_path)})
    source = np.asarray(module.draw(96)).astype(float)
    # inside the set, at 0 + 0i (pixel 76 of 96 across, the middle down), nothing escapes: 0, inverted 255, halved 0
    assert source[48, 76].tolist() == [0.0, 255.0, 0.0]
    kept = {name: np.asarray(Image.open(tmp_path / f"{name}.png")).astype(float) for name in answer["results"]}
    assert np.array_equal(kept["flipped"], source[::-1])
    assert np.array_equal(kept["mirrored"], source[:, ::-1])
    assert np.array_equal(kept["turned"], np.rot90(source))
    assert np.abs(kept["grey"] - source @ [0.299, 0.587, 0.114]).max() <= 1.0
    assert kept["blurred"].mean() == pytest.approx(source.mean(), abs=3.0)
    assert np.abs(np.diff(kept["blurred"], axis=1)).max() < np.abs(np.diff(source, axis=1)).max() / 2
    assert kept["thumbnail"].shape == (64, 64, 3)
    for name, result in answer["results"].items():
        pixels = Image.open(tmp_path / f"{name}.png").tobytes()
        assert result["sha256"] == hashlib.sha256(pixels).hexdigest(), name


def test_video_processing(tmp_path: Path) -> None:
    pytest.importorskip("av")
    module = load("video-processing")
    answer = module.main({"size": 12, "folder": str(tmp_path)})
    video = (tmp_path / answer["object"]).read_bytes()
    assert (answer["frames"], answer["bytes"]) == (12, len(video))
    pictures = list(module.decode(video))
    assert [picture.shape for picture in pictures] == [(240, 320, 3)] * 12
    for number, picture in enumerate(pictures):
        # the codec loses a little: the mark stays white, the bar (255 / 3 in grey) is where it was drawn
        assert picture[:24, :24].mean() > 240.0
        columns = picture[100:].mean(axis=(0, 2))
        assert columns[4 * number + 8 : 4 * number + 32].mean() == pytest.approx(85.0, abs=8.0)
        assert columns[4 * number + 60 :].mean() < 8.0


def test_image_recognition() -> None:
    pytest.importorskip("onnxruntime")
    module = load("image-recognition")
    answer = module.main({"size": 500, "seed": 12345})
    assert answer["accuracy"] > 0.97
    # pictures that are sent, without noise or slant, one of each digit
    import random

    still = random.Random(0)
    pictures = []
    for digit in range(10):
        buffer = io.BytesIO()
        module.draw(digit, still).save(buffer, "PNG")
        pictures.append(base64.b64encode(buffer.getvalue()).decode())
    assert module.main({"pictures": pictures}) == {"digits": list(range(10))}
    assert module.main({"pictures": []}) == {"digits": []}
    assert module.main({"pictures": ["%"]})["error"].startswith("pictures must be a list of PNG files in base64")


def test_k_nearest_neighbors() -> None:
    pytest.importorskip("sklearn")
    module = load("k-nearest-neighbors")
    answer = module.main({"size": 300, "neighbours": 1, "seed": 4})
    random = np.random.default_rng(4)
    known, labels = module.points(300, random)
    asked, truth = module.points(500, random)
    nearest = ((asked[:, None] - known[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert answer["counts"] == np.bincount(labels[nearest], minlength=4).tolist()
    assert answer["accuracy"] == (labels[nearest] == truth).mean()
    assert module.main({"size": 3, "neighbours": 4}) == {"error": "neighbours = 4, must be 1 to size = 3"}


def test_gradient_descent() -> None:
    module = load("gradient-descent")
    answer = module.main({"size": 800, "steps": 600, "seed": 2})
    features, target = module.rows(800, 2)
    exact = np.linalg.lstsq(features, target, rcond=None)[0]
    assert answer["weights"] == pytest.approx(exact.tolist(), abs=1e-5)
    assert answer["loss"] == pytest.approx(((features @ exact - target) ** 2).mean(), rel=1e-5)


def test_alu() -> None:
    # 1 + … + 10 = 55; 10! = 3,628,800 = 3 × 1,000,003 + 628,791; 1 xor 2 xor … xor 10 = 11; H(10) = 7381 / 2520
    answer = load("alu").main({"size": 10})
    assert answer.pop("quotient") == pytest.approx(7381 / 2520)
    assert answer == {"sum": 55, "difference": -55, "product": 628_791, "folded": 11}


def test_merge_sorting() -> None:
    module = load("merge-sorting")
    assert module.merge_sort([3, 1, 2, 2]) == ([1, 2, 2, 3], 3)  # (3, 1), (3, 2), (3, 2)
    import random

    draw = random.Random(9)
    numbers = [draw.randrange(1_000_000) for _ in range(500)]
    inversions = sum(a > b for a, b in itertools.combinations(numbers, 2))
    expected = sorted(numbers)
    assert module.main({"size": 500, "seed": 9}) == {
        "size": 500, "smallest": expected[0], "median": expected[250], "largest": expected[-1],
        "inversions": inversions,
    }  # fmt: skip


def test_dna_visualisation(tmp_path: Path) -> None:
    module = load("dna-visualisation")
    # T = 00, C = 01, A = 10, G = 11: down down, down up, up down, up up
    x, y = module.line(np.array([0, 1, 2, 3]))
    assert x.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]
    assert y.tolist() == [0, -1, -2, -3, -2, -1, -2, -1, 0]
    answer = module.main({"sequence": "ggga", "folder": str(tmp_path)})
    assert answer == {"object": "dna.png", "counts": {"T": 0, "C": 0, "A": 1, "G": 3}, "end": 6, "highest": 7,
                      "lowest": 0}  # fmt: skip
    dark = np.argwhere(np.asarray(Image.open(tmp_path / "dna.png")) == 0)
    assert dark[:, 0].min() == 10 and dark[:, 0].max() == 390, "the line fills the picture up to its margins"
    assert module.main({"sequence": "AUG"}) == {"error": "sequence has 'U', must be of TCAG alone"}


def follow(reply: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Call services in this process as long as a reply names a next one."""
    steps = []
    while (function := reply.pop("next", None)) is not None:
        steps.append(function)
        reply = load(function).main(reply)
    return reply, steps


def test_the_hotel_chain(tmp_path: Path) -> None:
    query = {"latitude": 37.7749, "longitude": -122.4194, "arrival": "2026-05-01", "departure": "2026-05-03",
             "customer": "Ada", "folder": str(tmp_path)}  # fmt: skip
    answer, steps = follow(load("hotel-frontend").main(query))
    assert steps == CHAIN
    # hotels 0 to 4 are nearest to the middle of the spiral; 0 is the cheapest: 80 a night, 2 May 2026 is a Saturday
    # and 1 May a Friday: 2 × 96
    assert answer == {"booked": "Grand Hotel", "hotel": 0, "room": 0, "cents": 19_200}
    assert {path.name for path in tmp_path.iterdir()} == {"0-0-2026-05-01", "0-0-2026-05-02"}
    booked = [follow(load("hotel-frontend").main(query))[0] for _ in range(15)]
    # three rooms each in the five hotels nearby, then nothing
    assert [(each.get("hotel"), each.get("room")) for each in booked[:2]] == [(0, 1), (0, 2)]
    assert len({(each["hotel"], each["room"]) for each in booked[:14]} | {(0, 0)}) == 15
    assert booked[14] == {"booked": None, "reason": "no room is free on all nights"}


def test_hotels_by_distance_and_price() -> None:
    geo = load("hotel-geo")
    # a degree of latitude is 6371 km × π / 180
    assert geo.distance((37.0, -122.0), (38.0, -122.0)) == pytest.approx(6371.0 * math.pi / 180.0)
    found = geo.main({"latitude": 37.7749, "longitude": -122.4194, "size": 50})["hotels"]
    assert {each["hotel"] for each in found} == {0, 1, 2, 3, 4}, "the first ones of the spiral"
    assert [each["kilometres"] for each in found] == sorted(each["kilometres"] for each in found)
    assert load("hotel-search").main({"departure": "2026-05-01"}) == {"error": "nights = 0, must be 1 to 60"}
    assert load("hotel-search").main({"arrival": "soon"})["error"].startswith("arrival and departure must be dates")


@pytest.fixture
def gateway() -> Iterator[str]:
    """A gateway that knows the services of the chain and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = json.dumps(load(self.path.removeprefix("/function/")).main(args)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *arguments: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_front_door_follows_the_chain_over_http(gateway: str) -> None:
    main = load("hotel-frontend").main
    answer = main({"gateway": gateway, "latitude": 37.7749, "longitude": -122.4194})
    assert answer == {"booked": "Grand Hotel", "hotel": 0, "room": 0, "cents": 19_200, "steps": CHAIN}
    failed = main({"gateway": gateway, "departure": "2026-04-01"})
    assert failed == {"error": "nights = -30, must be 1 to 60", "steps": ["hotel-search"]}
    assert "must be an address" in main({"gateway": "file:///etc/passwd"})["error"]
