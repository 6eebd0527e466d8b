"""Linear probes: folds, penalties, solvers, control labels, measures."""
