"""A tournament over hosts: where scores depend on the host alone, only changed ones are played again."""

from __future__ import annotations

import math

from trimtab.sim.kernel import kernel
from trimtab.sim.placing import is_feasible


@kernel
def play(scores, tree, node, hosts):
    """The winner of a node: the higher score, the lower index among equals."""
    left, right = tree[2 * node], tree[2 * node + 1]
    if left == -1:
        return right
    if right == -1 or scores[left] >= scores[right]:
        return left
    return right


@kernel
def best_of_tree(world, hosts, request, site, dirty, scores, tree):
    """Play the changed hosts' matches again and return the winner, or the best that is feasible."""
    size = world.tree_size
    if world.tree_ready == 0:
        for index in range(size):
            tree[size + index] = index if index < world.hosts else -1
        for node in range(size - 1, 0, -1):
            tree[node] = play(scores, tree, node, world.hosts)
        world.tree_ready = 1
    else:
        for position in range(world.dirty_count):
            node = (size + dirty[position]) >> 1
            while node >= 1:
                tree[node] = play(scores, tree, node, world.hosts)
                node >>= 1
    world.dirty_count = 0
    winner = tree[1]
    if is_feasible(world, hosts[winner], request, site):
        return winner
    best, highest = -1, -math.inf
    for index in range(world.hosts):
        if (best == -1 or scores[index] > highest) and is_feasible(world, hosts[index], request, site):
            best, highest = index, scores[index]
    return best
