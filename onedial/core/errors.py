"""The one exception that means "what you gave cannot be used", as opposed to "this program has a bug"."""


class InputError(ValueError):
    """A value, file or option from outside that cannot be used.

    The message is one sentence for a tired colleague: what came, what was expected, what to do.
    Command-line programs print it without a traceback and exit with code 2 (`onedial.core.command_line`).
    """
