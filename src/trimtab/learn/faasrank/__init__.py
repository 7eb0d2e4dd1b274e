"""How FaaSRank is trained: the paper's Algorithm 1, and a recipe of our own for the same network and inputs."""
