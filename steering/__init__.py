"""Interventions: how they are made and applied, and what a sweep of their magnitude does to the answers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
