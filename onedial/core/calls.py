"""What is said of a call that lacks an argument, or has one that is not taken."""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

from onedial.core.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


def says_how(function: F) -> F:
    """Let a call whose arguments do not fit be refused in a sentence, with the first example of the docstring.

    >>> @says_how
    ... def half(number):
    ...     '''
    ...     >>> half(3)
    ...     '''
    >>> half()
    Traceback (most recent call last):
    onedial.core.errors.InputError: half() missing 1 required positional argument: 'number'; write half(3)
    """

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except TypeError as error:
            if (trace := error.__traceback__) is None or trace.tb_next is not None:  # of what it does, not of the call
                raise
            raise InputError(f"{error}; write {_example(function)}") from None

    return cast(F, call)


def _example(function: Callable[..., Any]) -> str:
    """Find the first call of a function in its docstring; without any, its signature."""
    examples = re.sub(r"^ *(>>>|\.\.\.) ", "", function.__doc__ or "", flags=re.MULTILINE)
    parts = re.split(rf"((?:[\w.]+\([^()]*\))*[\w.]*\b{function.__name__}\()", examples, maxsplit=1)
    depth = 1
    for end, letter in enumerate(parts[2] if len(parts) == 3 else ""):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return parts[1] + parts[2][: end + 1]
    return f"{function.__name__}{inspect.signature(function)}"
