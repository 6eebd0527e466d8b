"""A tokenizer by itself, without its model and its chat template, for checks of wording."""

from pathlib import Path
from typing import Any

from onedial.core import InputError

FILE = "tokenizer.json"


class TokenizerFile:
    """Encodes and decodes text by a tokenizer.json; special tokens are neither added nor shown.

    Args:
        folder_or_id: a folder that holds tokenizer.json, or the id of a model on the hub.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """

    def __init__(self, folder_or_id: str) -> None:
        from tokenizers import Tokenizer

        file = Path(folder_or_id) / FILE
        if Path(folder_or_id).exists() and not file.is_file():
            raise InputError(f"{folder_or_id} holds no {FILE}; give the folder of a model, or its id on the hub")
        try:
            self._tokenizer: Any = (
                Tokenizer.from_file(str(file)) if file.is_file() else Tokenizer.from_pretrained(folder_or_id)
            )
        except Exception as error:  # tokenizers knows no narrower class
            reason = " ".join(str(error).split())
            raise InputError(
                f"the tokenizer {folder_or_id} cannot be read ({reason}); check the folder or id"
            ) from error

    def encode(self, text: str) -> list[int]:
        """Text to token ids."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: list[int]) -> str:
        """Token ids to text."""
        return self._tokenizer.decode(ids)
