"""Directions: contrast pairs, geometry, erasure, where something is written."""
