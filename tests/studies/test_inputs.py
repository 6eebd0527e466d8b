"""Every program reads its questions and panel by one function, whatever its options are about."""

import json

from onedial.panels.questions.question_files import load_questions
from onedial.studies.inputs import read_inputs
from onedial.studies.options.probes import ProbeOptions


def test_probes_read_questions_by_their_mapping(tmp_path):
    file = tmp_path / "mine.jsonl"
    asked = load_questions("embedded", n=60)
    rows = [{"id": each.id, "prompt": each.text, "gold": list(each.answers)} for each in asked]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ProbeOptions(questions=str(file), columns="question=prompt,answers=gold,id=id", prompt="neutral")
    inputs = read_inputs(options)
    assert {each.text for each in inputs.questions} == {each.text for each in asked}
    assert inputs.panel.answers.shape[0] == len(asked)
