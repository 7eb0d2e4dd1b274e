"""What the paper reports: its tables as printed, and the figures of its text.

Yu, Irissappane, Wang, Lloyd: "FaaSRank: Learning to Schedule Functions in Serverless Platforms", ACSOS 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

TITLE = "FaaSRank: Learning to Schedule Functions in Serverless Platforms"
CITATION = "H. Yu, A. A. Irissappane, H. Wang, W. J. Lloyd, IEEE ACSOS 2021"

BASELINES = ("hashing", "greedy", "round-robin", "least-connections", "static-rank")
"""In the order of Tables IV and V."""
POLICIES = (*BASELINES, "faasrank")


@dataclass(frozen=True)
class Profile:
    """A row of Table II."""

    short: str
    memory_mb: int
    cold_s: float
    warm_s: float
    init_s: float


TABLE_2: dict[str, Profile] = {
    "dynamic-html": Profile("DH", 512, 4.45, 2.34, 1.55),
    "email-generation": Profile("EG", 256, 2.20, 0.21, 1.55),
    "image-processing": Profile("IP", 256, 5.88, 3.52, 1.69),
    "video-processing": Profile("VP", 512, 6.86, 1.19, 4.77),
    "image-recognition": Profile("IR", 512, 4.28, 0.09, 1.33),
    "k-nearest-neighbors": Profile("KNN", 512, 4.99, 1.11, 3.45),
    "gradient-descent": Profile("GD", 512, 4.15, 0.60, 2.59),
    "alu": Profile("ALU", 256, 5.72, 3.45, 1.50),
    "merge-sorting": Profile("MS", 256, 3.87, 1.94, 1.54),
    "dna-visualisation": Profile("DV", 512, 8.57, 3.11, 4.13),
}


@dataclass(frozen=True)
class Load:
    """A row of Table III."""

    scenario: str
    load: float
    """CPU load in percent of M10's."""
    cpu_s: float
    calls: int
    gap_s: float
    """Average inter-arrival time."""
    length_s: float

    @property
    def stretch(self) -> float:
        """(calls − 1) × inter-arrival time over the length: 1 where the row agrees with itself."""
        return (self.calls - 1) * self.gap_s / self.length_s


TABLE_3: dict[str, Load] = {
    "SC": Load("faasrank-canada", 93.75, 4368.71, 292, 0.262, 60),
    "SA": Load("faasrank-aws", 132.9, 6196.89, 408, 0.184, 60),
    "M1": Load("faasrank-m1", 56.67, 2640.94, 209, 0.219, 37),
    "M2": Load("faasrank-m2", 57.00, 2656.32, 178, 0.242, 36),
    "M3": Load("faasrank-m3", 57.01, 2656.69, 201, 0.255, 44),
    "M4": Load("faasrank-m4", 59.05, 2751.87, 201, 0.217, 35),
    "M5": Load("faasrank-m5", 71.83, 3347.33, 226, 0.236, 44),
    "M6": Load("faasrank-m6", 74.95, 3492.49, 253, 0.251, 53),
    "M7": Load("faasrank-m7", 80.22, 3738.29, 256, 0.244, 52),
    "M8": Load("faasrank-m8", 82.54, 3846.15, 276, 0.215, 48),
    "M9": Load("faasrank-m9", 86.40, 4026.24, 318, 0.210, 54),
    "M10": Load("faasrank-m10", 100.00, 4659.86, 295, 0.242, 59),
}
MULTI = tuple(name for name in TABLE_3 if name.startswith("M"))

TABLE_4_CANADA: dict[str, tuple[float, ...]] = {
    "dynamic-html": (100.00, 116.18, 102.79, 108.19, 102.57, 98.55),
    "email-generation": (100.00, 116.56, 125.33, 114.93, 114.37, 106.89),
    "image-processing": (100.00, 127.88, 123.07, 112.79, 102.37, 94.12),
    "video-processing": (100.00, 97.73, 97.56, 98.23, 92.26, 81.88),
    "image-recognition": (100.00, 117.53, 113.68, 97.21, 100.75, 103.85),
    "k-nearest-neighbors": (100.00, 112.31, 101.15, 91.66, 92.84, 82.71),
    "alu": (100.00, 92.33, 88.36, 79.70, 76.86, 75.46),
    "merge-sorting": (100.00, 94.71, 90.50, 85.29, 83.07, 82.76),
    "gradient-descent": (100.00, 103.78, 102.24, 104.42, 101.69, 97.69),
    "dna-visualisation": (100.00, 115.60, 106.81, 109.56, 107.59, 102.86),
}
TABLE_4_AWS: dict[str, tuple[float, ...]] = {
    "dynamic-html": (100.00, 105.67, 97.83, 96.39, 93.39, 89.86),
    "email-generation": (100.00, 107.10, 96.32, 92.20, 87.98, 82.65),
    "image-processing": (100.00, 98.10, 87.80, 86.62, 84.62, 83.17),
    "video-processing": (100.00, 104.51, 98.68, 92.48, 91.93, 93.91),
    "image-recognition": (100.00, 110.82, 97.24, 91.23, 87.76, 83.65),
    "k-nearest-neighbors": (100.00, 100.19, 90.63, 91.84, 88.60, 86.86),
    "alu": (100.00, 98.08, 88.91, 88.21, 88.20, 84.84),
    "merge-sorting": (100.00, 105.44, 95.61, 93.76, 90.45, 88.76),
    "gradient-descent": (100.00, 102.12, 89.44, 90.90, 88.56, 86.17),
    "dna-visualisation": (100.00, 103.91, 93.85, 93.67, 90.05, 93.71),
}
"""Average completion time by function in percent of hashing's, columns as in ``POLICIES``."""

TABLE_5: dict[str, tuple[float, ...]] = {
    "M1": (100.00, 121.55, 81.17, 72.13, 77.31, 80.82),
    "M2": (100.00, 116.19, 79.94, 80.52, 77.12, 85.23),
    "M3": (100.00, 101.86, 70.20, 66.36, 64.68, 70.40),
    "M4": (100.00, 108.00, 92.13, 85.39, 84.99, 81.14),
    "M5": (100.00, 109.43, 77.88, 74.32, 76.91, 75.98),
    "M6": (100.00, 106.41, 63.57, 60.00, 60.10, 57.75),
    "M7": (100.00, 123.53, 82.81, 70.31, 73.83, 70.04),
    "M8": (100.00, 107.53, 88.76, 88.13, 88.19, 90.84),
    "M9": (100.00, 104.77, 80.48, 92.53, 78.86, 80.11),
    "M10": (100.00, 99.99, 78.41, 83.79, 79.59, 77.20),
}
"""Average completion time by workload in percent of hashing's, columns as in ``POLICIES``."""

BELOW_HASHING = {"canada": 9.25, "aws": 12.82, "multi": 23.05}
"""Percent by which FaaSRank's average completion time is below hashing's."""
STATIC_RANK_BELOW = {"hashing": 10.10, "greedy": 14.88}
FEWER_IN_FLIGHT = {"canada": 59.62, "aws": 70.43}
"""Percent of the time in which FaaSRank has fewer invocations in flight."""
BEST_FUNCTIONS = {"canada": 7, "aws": 8}
IMPROVED_FUNCTIONS = {"canada": 7, "aws": 10}
BEST_WORKLOADS = 4
DECISION_MS = 50.0
PARAMETERS = 2818
TRAINING_HOURS = {"single": 120.0, "multi": 96.0}
EPISODES = {"single": 1000, "multi": 500}
