"""One question to the model: memory errors lose nothing, processes share it, an unedited row is the plain answer."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from forks import run_together
from tiny_experiment import alone
from tiny_models import outspoken_model, vectors_at

from onedial.asking.instruments import CAN_YOU_ANSWER
from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.models.forward.activations import read_activations
from onedial.models.forward.runner import FastRunner
from onedial.models.prompt_set import PromptSet
from steering.asking import ask_settings
from steering.causes import Chance, effects_of, interchange, mediation, patched_margins
from steering.effects.side_effects import kl_on_text
from steering.interventions import Intervention
from steering.reading import UNEDITED, margins_of, read_along, rows_of
from steering.sweeping import sweep

HELPERS = Path(__file__).resolve().parents[1] / "helpers"
QUESTIONS = [Question(f"q{n:02d}", f"Who sang of river {n * 37 % 101}{' and sea' * (n % 4)}?") for n in range(22)]
PASSAGES = ["The ferry left the harbour at noon.", "Swifts fly and sleep in the air.", "It rains a lot."] * 3


def everything(model):
    """What each kind of question gives, as JSON."""
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    vector, other = vectors_at(model, [1, 3])
    last, whole = Intervention.of(vector), Intervention.of(vector, positions="all", intervention_id="all")
    streams = read_activations(model, prompts, [1]).residuals[:, 0]
    asked = {question.id: CAN_YOU_ANSWER.prompt(question.text) for question in QUESTIONS}
    pairs = [(QUESTIONS[2 * n].id, QUESTIONS[2 * n + 1].id) for n in range(6)]
    tables = [
        sweep(model, [last, whole], prompts, [-0.5, 0.0, 0.5]).table,
        ask_settings(model, asked, CAN_YOU_ANSWER, [last, whole], [0.0, 0.5]),
        kl_on_text(model, [last, whole], {last.intervention_id: [0.3], "all": [0.3, 0.6]}, passages=PASSAGES),
        interchange(model, prompts, vector, pairs, chance=Chance(3, 9)),
        mediation(model, prompts, vector, (-0.3, 0.3), 3, {("probe", "other"): other.direction}, chance=Chance(3, 9)),
        effects_of(model, prompts, {"a": vector.direction}, 1, streams, chance=Chance(2, 9)),
    ]
    patched = patched_margins(model, prompts, [0, 3, 5], [1, 2, 4], [0, 2]).tolist()
    return json.loads(json.dumps([table.to_dict("list") for table in tables] + [patched]))


TWO = """
import json, sys
sys.path[:0] = sys.argv[1:3]
from onedial.models.processes import process_index, start_processes
start_processes()
from test_reading import everything
from tiny_models import outspoken_model
found = everything(outspoken_model())
open(f"{sys.argv[3]}/{process_index()}.json", "w").write(json.dumps(found))
"""


@pytest.mark.launched
def test_two_processes_each_get_what_one_does(tmp_path):
    (tmp_path / "two.py").write_text(TWO)
    given = [tmp_path / "two.py", HELPERS, Path(__file__).parent, tmp_path]
    with open(tmp_path / "log.txt", "w") as log:
        assert run_together(*given, log=log, env=alone(), n=2) == [0, 0], (tmp_path / "log.txt").read_text()
    one = everything(outspoken_model())
    for rank in (0, 1):
        assert repr(json.loads((tmp_path / f"{rank}.json").read_text())) == repr(one)


def test_where_memory_ends_batches_are_halved_and_nothing_is_lost(model, prompts, monkeypatch):
    push, start, counts = rows_of(Intervention.of(*vectors_at(model, [2])), [-1.0, 1.0]), FastRunner.start, []
    whole = read_along(model, prompts, [push, UNEDITED], margins_of(model, prompts))

    def small(self, sequences):
        if len(sequences) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return start(self, sequences)

    monkeypatch.setattr(FastRunner, "start", small)
    tight = read_along(model, prompts, [push, UNEDITED], margins_of(model, prompts), progress=counts.append)
    np.testing.assert_allclose(np.stack(tight), np.stack(whole), atol=1e-4)
    assert (sum(counts), max(counts)) == (len(QUESTIONS), 3)
    unedited = read_activations(model, prompts, [])
    np.testing.assert_allclose(np.stack(tight)[:, 0, 2], unedited.margin, atol=1e-4)
