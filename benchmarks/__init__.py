"""Commands that print the performance table, peers beside us in the same run."""
