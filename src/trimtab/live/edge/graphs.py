"""ASET's three detectors as ONNX graphs with random weights: their speed does not depend on what they learned.

MobileNet-SSD (v1, 300 pixels, 91 classes), Tiny YOLO v2 and YOLO v3 (416 pixels, 80 classes), up to the maps that
boxes are read from; no box is decoded. Built from the architectures as published.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trimtab.errors import unknown


class Graph:
    """A chain of layers; every method adds one and returns the name of its output."""

    def __init__(self, edge: int) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._numpy = helper, numpy_helper
        self.edge = edge
        self.operations = 0
        """Floating-point operations of one picture, two to a multiplication with an addition."""
        self.parameters = 0
        self._nodes: list[Any] = []
        self._arrays: list[Any] = []
        self._shapes: dict[str, tuple[int, int]] = {"pictures": (3, edge)}
        self._random = np.random.default_rng(1)

    def channels(self, name: str) -> int:
        """Of a layer's output."""
        return self._shapes[name][0]

    def _add(self, kind: str, inputs: list[str], shape: tuple[int, int], **attributes: Any) -> str:
        name = f"{kind.lower()}{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(kind, inputs, [name], **attributes))
        self._shapes[name] = shape
        return name

    def _weights(self, *shape: int) -> str:
        name = f"weights{len(self._arrays)}"
        scale = 1.0 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 1.0)
        values = (self._random.standard_normal(shape) * scale).astype(np.float32)
        self._arrays.append(self._numpy.from_array(values, name))
        self.parameters += values.size
        return name

    def conv(self, source: str, filters: int, size: int = 3, stride: int = 1, depthwise: bool = False) -> str:
        """A convolution with a bias (where a network normalises, that is folded in); "same" padding."""
        channels, edge = self._shapes[source]
        out = -(-edge // stride)
        inputs = 1 if depthwise else channels
        weights = [self._weights(filters, inputs, size, size), self._weights(filters)]
        self.operations += 2 * filters * inputs * size * size * out * out
        return self._add(
            "Conv", [source, *weights], (filters, out), kernel_shape=[size, size], strides=[stride, stride],
            auto_pad="SAME_UPPER", group=channels if depthwise else 1,
        )  # fmt: skip

    def leaky(self, source: str) -> str:
        """YOLO's activation."""
        return self._add("LeakyRelu", [source], self._shapes[source], alpha=0.1)

    def relu6(self, source: str) -> str:
        """MobileNet's activation."""
        limits = []
        for value in (0.0, 6.0):
            name = f"limit{value:g}"
            if not any(array.name == name for array in self._arrays):
                self._arrays.append(self._numpy.from_array(np.array(value, np.float32), name))
            limits.append(name)
        return self._add("Clip", [source, *limits], self._shapes[source])

    def pool(self, source: str, stride: int = 2) -> str:
        """The largest of two by two."""
        channels, edge = self._shapes[source]
        shape = (channels, -(-edge // stride))
        return self._add(
            "MaxPool", [source], shape, kernel_shape=[2, 2], strides=[stride, stride], auto_pad="SAME_UPPER"
        )

    def add(self, one: str, other: str) -> str:
        """A short cut around some layers."""
        return self._add("Add", [one, other], self._shapes[one])

    def join(self, one: str, other: str) -> str:
        """The maps of both."""
        shape = (self.channels(one) + self.channels(other), self._shapes[one][1])
        return self._add("Concat", [one, other], shape, axis=1)

    def double(self, source: str) -> str:
        """Twice as wide and high."""
        channels, edge = self._shapes[source]
        if not any(array.name == "doubled" for array in self._arrays):
            self._arrays.append(self._numpy.from_array(np.array([1, 1, 2, 2], np.float32), "doubled"))
        return self._add("Resize", [source, "", "doubled"], (channels, 2 * edge), mode="nearest")

    def model(self, outputs: list[str]) -> bytes:
        """The graph as a file, for batches of any size."""
        from onnx import TensorProto

        make = self._helper.make_tensor_value_info
        given = [make("pictures", TensorProto.FLOAT, ["batch", 3, self.edge, self.edge])]
        maps = [make(each, TensorProto.FLOAT, ["batch", self.channels(each), None, None]) for each in outputs]
        graph = self._helper.make_graph(self._nodes, "detector", given, maps, self._arrays)
        opset = [self._helper.make_opsetid("", 17)]
        found: bytes = self._helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()
        return found


def tiny_yolo_2() -> tuple[Graph, list[str]]:
    """Nine convolutions with pooling between them."""
    graph = Graph(416)
    layer = "pictures"
    for filters, stride in ((16, 2), (32, 2), (64, 2), (128, 2), (256, 2), (512, 1)):
        layer = graph.pool(graph.leaky(graph.conv(layer, filters)), stride)
    for filters in (1024, 512):
        layer = graph.leaky(graph.conv(layer, filters))
    return graph, [graph.conv(layer, 425, 1)]


def mobilenet_ssd() -> tuple[Graph, list[str]]:
    """MobileNet v1, four smaller and smaller maps behind it, and boxes with classes from six maps in all."""
    graph = Graph(300)
    layer = graph.relu6(graph.conv("pictures", 32, 3, 2))
    maps = []
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for number, (filters, stride) in enumerate(blocks):
        layer = graph.relu6(graph.conv(layer, graph.channels(layer), 3, stride, depthwise=True))
        layer = graph.relu6(graph.conv(layer, filters, 1))
        if number in (10, 12):
            maps.append(layer)
    for narrow, wide in ((256, 512), (128, 256), (128, 256), (64, 128)):
        layer = graph.relu6(graph.conv(graph.relu6(graph.conv(layer, narrow, 1)), wide, 3, 2))
        maps.append(layer)
    outputs = []
    for number, each in enumerate(maps):
        boxes = 3 if number == 0 else 6
        outputs += [graph.conv(each, boxes * 4, 1), graph.conv(each, boxes * 91, 1)]
    return graph, outputs


def yolo_3() -> tuple[Graph, list[str]]:
    """Darknet-53, and three heads at 13, 26 and 52 cells."""
    graph = Graph(416)
    layer = graph.leaky(graph.conv("pictures", 32))
    stages = []
    for filters, repeats in ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4)):
        layer = graph.leaky(graph.conv(layer, filters, 3, 2))
        for _ in range(repeats):
            inner = graph.leaky(graph.conv(layer, filters // 2, 1))
            layer = graph.add(layer, graph.leaky(graph.conv(inner, filters)))
        stages.append(layer)
    outputs = []
    for filters, earlier in ((512, stages[3]), (256, stages[2]), (128, None)):
        for size, wide in ((1, 1), (3, 2), (1, 1), (3, 2), (1, 1)):
            layer = graph.leaky(graph.conv(layer, filters * wide, size))
        outputs.append(graph.conv(graph.leaky(graph.conv(layer, 2 * filters)), 255, 1))
        if earlier is not None:
            layer = graph.join(graph.double(graph.leaky(graph.conv(layer, filters // 2, 1))), earlier)
    return graph, outputs


GRAPHS: dict[str, Callable[[], tuple[Graph, list[str]]]] = {
    "mobilenet-ssd": mobilenet_ssd,
    "tiny-yolo-v2": tiny_yolo_2,
    "yolo-v3": yolo_3,
}


class GraphModel:
    """A graph that can be run on batches of random pictures."""

    def __init__(self, name: str, cores: int = 1) -> None:
        if name not in GRAPHS:
            raise unknown("model", name, GRAPHS)
        import onnxruntime

        graph, outputs = GRAPHS[name]()
        self.operations, self.parameters = graph.operations, graph.parameters
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = cores, 1
        self._session = onnxruntime.InferenceSession(graph.model(outputs), options, providers=["CPUExecutionProvider"])
        self._pictures = np.random.default_rng(1).random((1, 3, graph.edge, graph.edge), np.float32)

    def run(self, batch: int) -> list[tuple[int, ...]]:
        """Answer a batch; the shapes of the maps that come out."""
        pictures = np.repeat(self._pictures, batch, axis=0)
        return [tuple(each.shape) for each in self._session.run(None, {"pictures": pictures})]
