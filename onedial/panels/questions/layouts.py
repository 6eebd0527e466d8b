"""Layouts of questions that a plugin adds, before what is understood by itself (`question_table`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from onedial.asking.questions import Question
from onedial.asking.tables import Table, is_blank
from onedial.core.errors import InputError
from onedial.panels.questions.question_table import read_questions

Row = dict[str, Any]
_CODE = {"entry_point", "test_list", "canonical_solution"}


@dataclass(frozen=True)
class Layout:
    """A way to write questions that is not understood by itself, for a plugin.

    Attributes:
        needs: the columns that tell it. Of several layouts whose columns are there, the one that needs most reads; of
            these the one that was added last.
        read: from a row (column to cell; None where it is blank) and where it stands, for messages, to a question.
    """

    needs: tuple[str, ...]
    read: Callable[[Row, str], Question]

    def question(self, row: Mapping[Any, Any], where: str) -> Question:
        """What a row asks.

        Raises:
            InputError: the row cannot be read; the sentence says where it stands.
        """
        cells = {str(name): None if is_blank(cell) else cell for name, cell in row.items()}
        try:
            return self.read(cells, where)
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(
                f"{where} cannot be read as {', '.join(self.needs)} ({type(error).__name__}: {error}); correct "
                "the row, or add a layout that reads it (--plugin)"
            ) from error


LAYOUTS: dict[str, Layout] = {}
"""Name to a plugin's layout; these go before what is understood without them."""


def questions_of(table: Table) -> tuple[list[Question], bool]:
    """Every row of a table as a question, and whether the table gives their ids.

    Raises:
        InputError: a row or column that cannot be read, options that are not understood, or code; named by its place.
    """
    names = [str(name) for name in table.frame.columns]
    if _CODE & set(names):
        raise InputError(
            f"{table.path} asks for code, which could only be graded by running it; give questions with answers"
        )
    added = [layout for layout in LAYOUTS.values() if set(layout.needs) <= set(names)]
    if added:
        layout = max(reversed(added), key=lambda each: len(each.needs))
        rows = [dict(zip(names, cells, strict=True)) for cells in table.frame.to_numpy()]
        has_ids = bool({"id", "question_id"} & set(names))
        return [layout.question(row, table.where(number)) for number, row in enumerate(rows)], has_ids
    return read_questions(table)
