"""By what a target's setting is chosen, and what counts as judged."""
