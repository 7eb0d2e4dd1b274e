"""Learning of the schedulers that assign tasks to hosts."""
