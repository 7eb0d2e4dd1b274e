"""Makes ``digits.onnx``: scikit-learn learns drawn digits, and the network is written as an ONNX graph.

Run in this folder: ``python train.py``; it takes a minute. It is not part of the function.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
from digits import EDGE, draw, tensor
from onnx import TensorProto, helper, numpy_helper
from sklearn.neural_network import MLPClassifier

PICTURES, HIDDEN = 40_000, 64


def learn(seed: int) -> MLPClassifier:
    """Fit one hidden layer to drawn digits."""
    chance = random.Random(seed)
    truth = [chance.randrange(10) for _ in range(PICTURES)]
    model = MLPClassifier((HIDDEN,), alpha=0.01, max_iter=300, early_stopping=True, random_state=seed)
    return model.fit(tensor([draw(digit, chance) for digit in truth]), truth)


def graph(model: MLPClassifier) -> onnx.ModelProto:
    """Two fully connected layers with a ReLU between them."""
    arrays = {}
    for number, (weights, biases) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        arrays[f"weights{number}"], arrays[f"biases{number}"] = weights, biases
    nodes = [
        helper.make_node("Gemm", ["pictures", "weights0", "biases0"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "weights1", "biases1"], ["scores"]),
    ]
    made = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("pictures", TensorProto.FLOAT, ["count", EDGE * EDGE])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["count", 10])],
        [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    written = graph(learn(seed=1))
    onnx.checker.check_model(written)
    Path("digits.onnx").write_bytes(written.SerializeToString())
