"""Fit linear probes: folds, penalties, control labels, measures."""
