"""A steered model for whoever asks: an Inspect provider, and a server that speaks OpenAI's protocol."""

from typing import Any

__all__ = ["dial_cost"]


def __getattr__(name: str) -> Any:
    """Inspect is an extra, which the server does without; it is imported when it is asked for."""
    if name in __all__:
        from onedial.serving.cost import dial_cost

        return dial_cost
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
