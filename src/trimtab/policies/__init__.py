"""Who decides: one file per policy, one registry."""
