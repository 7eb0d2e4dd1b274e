"""How a policy is learned: environments, networks, recipes, export. The only place that knows torch."""
