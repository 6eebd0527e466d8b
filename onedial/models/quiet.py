"""Leave the terminal to the program."""

import os
import sys


def quiet_libraries() -> None:
    """No bars of other libraries while weights are read or converted, no word about forked tokenizers.

    A download's bar is wanted by whoever waits for it: it stays in a terminal, and a log is spared it.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from huggingface_hub.utils import disable_progress_bars
    from transformers.utils import logging

    logging.disable_progress_bar()
    if not sys.stderr.isatty():
        disable_progress_bars()
