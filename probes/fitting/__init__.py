"""Linear probes: folds, penalties, control labels, measures."""
