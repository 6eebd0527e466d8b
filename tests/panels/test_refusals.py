"""A file that cannot be used is refused in one sentence that names it and the place; nothing is guessed.

tests/reference/refusals.yaml is the table of files, under what reads them.
"""

from pathlib import Path

import pytest
import yaml

from onedial.asking.prompts import load_prompt
from onedial.core.errors import InputError
from onedial.panels.collecting.respondent_files import load_respondents
from onedial.panels.formats.formats import read_logs
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.question_files import load_questions

TABLE = yaml.safe_load((Path(__file__).parents[1] / "reference" / "refusals.yaml").read_text("utf-8"))


def panel_beside(file):
    """A panel that can be used, in the folder of a file about it."""
    file.with_name("p.csv").write_text("question_id,a\nq1,yes\nq2,no\n")
    return load_panel(file.with_name("p.csv"), file if file.suffix == ".csv" else None)


READERS = {
    "questions": load_questions,
    "panel": load_panel,
    "table of respondents": panel_beside,
    "elicitation": panel_beside,
    "prompt": load_prompt,
    "log": read_logs,
    "models to ask": load_respondents,
}


@pytest.mark.parametrize("part", READERS)
def test_each_is_refused_in_one_sentence_by_its_place(tmp_path, part):
    assert TABLE.keys() == READERS.keys()
    for number, (name, content, words) in enumerate(TABLE[part]):
        file = tmp_path / str(number) / name
        file.parent.mkdir()
        file.write_bytes(content.encode("latin-1"))
        with pytest.raises(InputError, match=words) as refusal:
            READERS[part](file)
        assert name in str(refusal.value) or part in ("prompt", "models to ask", "elicitation")
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"question": "Who?", "level": ' + "9" * 5000 + "}"])
def test_what_is_nested_or_written_without_end_is_refused_too(tmp_path, content):
    (tmp_path / "q.jsonl").write_text(content)
    with pytest.raises(InputError, match=r"q\.jsonl.* whole "):
        load_questions(tmp_path / "q.jsonl")
