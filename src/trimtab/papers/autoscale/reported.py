"""What the slides on the DQN autoscaler report: a loop, two learning curves without numbers, and a few words."""

from __future__ import annotations

TITLE = "Deep Q-learning for serverless resource management: the DQN autoscaler"
CITATION = "Slides on scaling serverless functions by reinforcement learning (CloudLab; hotel-app, fibonacci-python)"

THRESHOLDS = ("threshold-cpu", "threshold-memory")
"""The two naive rules that the slides show: 250m of CPU, 256 MiB of memory a container."""
MILLICORES = (1000.0, 2000.0)
""""Around 1000-2000": where vertical scaling settles."""
