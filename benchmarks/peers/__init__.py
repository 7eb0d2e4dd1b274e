"""Other ways to simulate the same system, timed beside Trimtab in one run."""
