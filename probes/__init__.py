"""Directions read out of activations, and how well they read."""

from probes.linear import Probe, fit_probe, probe_layers

__all__ = ["Probe", "fit_probe", "probe_layers"]
