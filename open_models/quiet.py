"""Leave the terminal to the program."""

import os


def quiet_libraries() -> None:
    """No bars of other libraries while weights are read or converted, no word about forked tokenizers."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers.utils import logging

    logging.disable_progress_bar()
