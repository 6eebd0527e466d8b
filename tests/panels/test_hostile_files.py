"""Files of strangers: whatever is in them, they are read or refused in one sentence, and take no more than they may."""

import contextlib
import copy
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onedial.asking.prompts import load_prompt
from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.panels.collecting.respondent_files import load_respondents
from onedial.panels.formats.formats import read_logs
from onedial.panels.formats.imported_panel import panel_from_logs

LOGS = Path(__file__).parents[1] / "reference" / "imports"
SOURCES = {
    "inspect": LOGS / "inspect" / "can_you_reasoned_as.json",
    "lm-eval": sorted((LOGS / "lm_eval").rglob("samples_can_you_2*.jsonl"))[0],
    "every-eval-ever": LOGS / "every_eval_ever" / "can_you_samples.jsonl",
}
HOSTILE = [None, True, -1, 10**400, float("nan"), float("inf"), "", "\ud800", "\0", "nan", [], {}, [[]], {"": {}}]


def nodes_of(value, holder=None, key=None):
    if holder is not None:
        yield holder, key
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in list(inside):
        yield from nodes_of(below, value, name)


@pytest.mark.parametrize("name", SOURCES)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_other_values_in_a_log_are_read_or_refused(name, seed, tmp_path_factory):
    rng, source = random.Random(seed), SOURCES[name]
    rows = (
        [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()[:4]]
        if name != "inspect"
        else [json.loads(source.read_text(encoding="utf-8"))]
    )
    for _ in range(rng.choice([1, 1, 1, 5])):
        holder, key = rng.choice([*nodes_of(rows)])
        holder[key] = copy.deepcopy(rng.choice(HOSTILE))
    path = tmp_path_factory.mktemp("log") / source.name
    path.write_text("\n".join(map(json.dumps, rows)))
    with contextlib.suppress(InputError):
        panel_from_logs(read_logs(path), "yes-no", shared_lines="cut")


@pytest.mark.parametrize("text", ["[" * 5000, "a: 2024-99-99", "a: " + "9" * 5000, "a: !!python/object:os.system x"])
def test_yaml_of_a_stranger_is_refused_in_one_sentence(tmp_path, text):
    for name, read in {"who.yaml": load_respondents, "prompt.yaml": load_prompt}.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=name):
            read(tmp_path / name)
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(InputError, match=r"config\.yaml"):
        Run.open(tmp_path)
