"""Learning to scale: episodes for Q-learning, direct search for the correction of a rule."""
