"""Directions: contrast pairs, geometry, erasure, lens, where something is written."""
