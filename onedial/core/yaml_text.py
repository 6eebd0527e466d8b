"""YAML of somebody else's, within bounds: a few lines with aliases of aliases may unfold to billions of values."""

from typing import Any

import yaml

MOST_CHARACTERS = 1 << 22
MOST_VALUES = 100_000


def parsed_yaml(text: str) -> Any:
    """The plain values of a YAML text; tags that would build anything else are refused.

    >>> parsed_yaml("models: [a, b]")
    {'models': ['a', 'b']}

    Raises:
        yaml.YAMLError: it is no YAML, has more than `MOST_CHARACTERS`, nests too deeply, refers to itself, or holds
            more than `MOST_VALUES` once its aliases are unfolded.
    """
    if len(text) > MOST_CHARACTERS:
        raise yaml.YAMLError(f"{len(text):,} characters, and at most {MOST_CHARACTERS:,} are read")
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if (n := _n_values(node, {})) > MOST_VALUES:
            raise yaml.YAMLError(f"{n:,} values with all aliases, and at most {MOST_VALUES:,} are read")
        return loader.construct_document(node)
    except RecursionError:
        raise yaml.YAMLError("nested too deeply") from None
    except ValueError as error:  # a date or a number that is none
        raise yaml.YAMLError(str(error)) from error
    finally:
        loader.dispose()


def _n_values(node: yaml.Node, known: dict[int, int | None]) -> int:
    """How many values it stands for.

    Args:
        known: by node; None while it is being counted.
    """
    if id(node) not in known:
        known[id(node)] = None
        inside = node.value if isinstance(node, yaml.CollectionNode) else []
        parts = [part for pair in inside for part in (pair if isinstance(pair, tuple) else (pair,))]
        known[id(node)] = 1 + sum(_n_values(part, known) for part in parts)
    if (n := known[id(node)]) is None:
        raise yaml.YAMLError("it refers to itself")
    return n
