"""Learning of selectors over schedulers."""
