"""What is said in one sentence, without a traceback: an input that cannot be used, a process that does not come."""


class InputError(ValueError):
    """A value, file or option from outside that cannot be used.

    The message is one sentence for a tired colleague: what came, what was expected, what to do.
    Command-line programs print it without a traceback and exit with code 2 (`onedial.core.command_line`).
    """


class ProcessLostError(RuntimeError):
    """Of several processes that share the work, one has ended or does not come to where the others wait.

    The message says which, where the others wait and how long they did. Programs print it and exit with code 1.
    """
