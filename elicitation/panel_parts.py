"""Answers on disk while a panel is collected: small parts, each whole or absent.

An answer counts as done once it stands in a part together with a hash of what was asked and of whom, so that a
collection that was broken off goes on where it stopped, and a question or framing that was reworded is asked again.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from common import InputError, atomic_path, sha256_of_text
from elicitation.prompts import Prompt

KEY = ["respondent", "question_id", "asked"]


def asked(prompt: Prompt, *of_whom: str | None) -> str:
    """Hash of one request: the prompt before any chat template, and what says who was asked (model, dtype, ...)."""
    return sha256_of_text("\x1f".join([prompt.user, prompt.assistant_prefix, *(name or "" for name in of_whom)]))


class PanelParts:
    """The parts of one folder, `part-00000.parquet` and so on, with the columns `KEY` and whatever was answered.

    Args:
        folder: is made where it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(".part-*"):  # of a writer that was killed
            leftover.unlink()

    def append(self, rows: pd.DataFrame) -> None:
        """Write rows as the next part."""
        numbers = [int(file.stem.removeprefix("part-")) for file in self._files()]
        with atomic_path(self.folder / f"part-{max(numbers, default=-1) + 1:05d}.parquet") as temporary:
            rows.to_parquet(temporary, index=False)

    def read(self) -> pd.DataFrame:
        """All rows; of several with one key the first.

        Raises:
            InputError: a part cannot be read.
        """
        parts = []
        for file in self._files():
            try:
                parts.append(pd.read_parquet(file))
            except (OSError, ValueError) as error:
                raise InputError(f"{file} cannot be read ({error}); remove it and go on with --resume") from error
        if not parts:
            return pd.DataFrame(columns=KEY)
        return pd.concat(parts, ignore_index=True).drop_duplicates(KEY, ignore_index=True)

    def done(self) -> set[tuple[str, str, str]]:
        """Keys (respondent, question_id, asked) of what was answered."""
        return set(self.read()[KEY].itertuples(index=False, name=None))

    def wanted(self, keys: Iterable[tuple[str, str, str]]) -> pd.DataFrame:
        """The rows of these keys, in their order; what was asked in another wording is left out.

        Raises:
            InputError: some were not answered yet.
        """
        index = pd.MultiIndex.from_tuples(list(keys), names=KEY)
        rows = self.read().set_index(KEY)
        n_missing = int((~index.isin(rows.index)).sum())
        if n_missing:
            raise InputError(f"{self.folder} lacks {n_missing} of {len(index)} answers; go on with --resume")
        return rows.loc[index].reset_index()

    def _files(self) -> Sequence[Path]:
        return sorted(self.folder.glob("part-*.parquet"))
