"""``python -m benchmarks.peers``: both peers on the three pieces of work, median of three runs."""

from __future__ import annotations

import argparse

from benchmarks.peers.measure import PEERS, measure
from benchmarks.peers.work import CALLS, WORKS, draw


def main() -> None:
    """Print a row for each work and peer."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help="calls to simulate (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="runs, the median counts (default: %(default)s)")
    options = parser.parse_args()

    print("work  peer      calls/s  cold starts  mean response  completed")
    for name, work in WORKS.items():
        inputs = draw(work, options.calls, options.seed)
        speeds = []
        for peer in PEERS:
            measurement = measure(peer, inputs, options.repeats)
            cold_starts, mean_response, completed = measurement.result
            speeds.append(measurement.calls_per_s)
            print(
                f"{name:4}  {peer:5}  {measurement.calls_per_s:>10,.0f}  {cold_starts:>11,}"
                f"  {mean_response:>11.6f} s  {completed:>9,}"
            )
        print(f"{name:4}  heapq is {speeds[0] / speeds[1]:.1f} times as fast as SimPy")


if __name__ == "__main__":
    main()
