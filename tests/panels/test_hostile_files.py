"""Files of strangers: whatever is in them, they are read or refused in one sentence, and take no more than they may."""

import copy
import gzip
import io
import json
import os
import random
import shutil
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onedial.asking import load_prompt, read_table
from onedial.core import InputError, Run, files
from onedial.panels import load_respondents, panel_from_logs, read_logs
from onedial.panels.formats.zip_members import read_member, zip_members

LOGS = Path(__file__).parents[1] / "reference" / "imports"
SAMPLES = sorted((LOGS / "lm_eval").rglob("samples_can_you_2*.jsonl"))[0]
SOURCES = {
    "inspect .eval": LOGS / "inspect" / "can_you.eval",
    "inspect .json": LOGS / "inspect" / "can_you_reasoned_as.json",
    "lm-eval": SAMPLES,
    "every-eval-ever": LOGS / "every_eval_ever" / "can_you_samples.jsonl",
}
HOSTILE = [
    None,
    True,
    -1,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "\ud800",
    "\0",
    "nan",
    [],
    {},
    [[]],
    [None],
    {"": {}},
]
EXAMPLES = int(os.environ.get("ONEDIAL_EXAMPLES", "30"))
"""How many files of each kind are tried; set the variable to try more."""


def read_all(path):
    """Read it as the importer does, or say why it was refused."""
    try:
        return panel_from_logs(read_logs(path))
    except InputError as refused:
        return str(refused)


def whole(name):
    source = SOURCES[name]
    if name == "inspect .eval":
        return [json.loads(read_member(source, zip_members(source)["header.json"]))]
    text = source.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()][:4] if source.suffix == ".jsonl" else [json.loads(text)]


def place(name, folder, data):
    """The file of this format with other bytes, beside what it needs; what is to be read."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / SOURCES[name].name).write_bytes(data)
    return folder / SOURCES[name].name


def nodes_of(value, holder=None, key=None):
    if holder is not None:
        yield holder, key
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in list(inside):
        yield from nodes_of(below, value, name)


@pytest.mark.parametrize("name", SOURCES)
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 8))
def test_other_bytes_in_a_log_are_read_or_refused(name, seed, n, tmp_path_factory):
    rng, data = random.Random(seed), bytearray(SOURCES[name].read_bytes())
    for _ in range(n):
        at = rng.randrange(len(data))
        data[at : at + rng.choice([0, 1, 1, 40])] = rng.randbytes(rng.choice([0, 1, 1, 40]))
    if rng.random() < 0.2:
        del data[rng.randrange(len(data)) :]
    read_all(place(name, tmp_path_factory.getbasetemp() / "bytes", bytes(data)))


@pytest.mark.parametrize("name", SOURCES)
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32))
def test_other_values_in_a_log_are_read_or_refused(name, seed, tmp_path_factory):
    rng, rows = random.Random(seed), whole(name)
    for _ in range(rng.choice([1, 1, 1, 5])):
        holder, key = rng.choice([*nodes_of(rows)])
        if rng.random() < 0.2 and isinstance(holder, dict):
            holder.pop(key, None)
        else:
            holder[key] = copy.deepcopy(rng.choice(HOSTILE))
    data = "\n".join(json.dumps(row) for row in rows).encode()
    if name == "inspect .eval":
        kept = io.BytesIO()
        with zipfile.ZipFile(kept, "w") as archive:
            archive.writestr("header.json", data)
            sample = json.loads(SOURCES["inspect .json"].read_text(encoding="utf-8"))["samples"][0]
            holder, key = rng.choice([*nodes_of(sample)])
            holder[key] = copy.deepcopy(rng.choice(HOSTILE))
            archive.writestr("samples/1_epoch_1.json", json.dumps(sample))
        data = kept.getvalue()
    read_all(place(name, tmp_path_factory.getbasetemp() / "values", data))


def table_bytes(suffix):
    frame = pd.DataFrame(
        {"question_id": ["a", "b"], "question": ["One?", "Two?"], "respondent": "m", "said_yes": [1, 0]}
    )
    kept = io.BytesIO()
    if suffix == ".parquet":
        frame.to_parquet(kept)
    elif suffix == ".xlsx":
        frame.to_excel(kept, index=False)
    elif suffix == ".jsonl":
        frame.to_json(kept, orient="records", lines=True)
    else:
        text = frame.to_csv(index=False).encode()
        return gzip.compress(text) if suffix == ".csv.gz" else text
    return kept.getvalue()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet", ".xlsx"])
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 6))
def test_other_bytes_in_a_table_are_read_or_refused(suffix, seed, n, tmp_path_factory):
    rng, data = random.Random(seed), bytearray(table_bytes(suffix))
    for _ in range(n):
        at = rng.randrange(len(data))
        data[at : at + rng.choice([0, 1, 1, 9])] = rng.randbytes(rng.choice([0, 1, 1, 9]))
    file = tmp_path_factory.getbasetemp() / f"table{suffix}"
    file.write_bytes(bytes(data))
    read_all(file)


# ---- size ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """At most 2,000 bytes are read."""
    for module in ("onedial.core.files", "onedial.asking.tables", "onedial.panels.formats.zip_members"):
        monkeypatch.setattr(f"{module}.LARGEST", 2000)
    assert files.LARGEST == 2000


def excel_of_zeros(file):
    book = openpyxl.Workbook()
    book.active.append(["question"])
    for _ in range(500):
        book.active.append(["0" * 50])
    book.save(file)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.csv", lambda file: file.write_text("question\n" + "a\n" * 2000)),
        ("t.csv.gz", lambda file: file.write_bytes(gzip.compress(b"question\n" + b"a\n" * 2000))),
        ("t.parquet", lambda file: pd.DataFrame({"question": [None] * 5000}).to_parquet(file)),
        ("t.xlsx", excel_of_zeros),
    ],
)
def test_a_table_that_is_too_large_is_refused_also_where_it_is_small_on_the_disk(tmp_path, small, name, write):
    write(tmp_path / name)
    with pytest.raises(InputError, match=r"at most 2,000 are read; split it"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", SOURCES)
def test_a_log_that_is_too_large_is_refused(small, name):
    with pytest.raises(InputError, match="are read; split it"):
        read_logs(SOURCES[name])


def test_many_members_that_may_each_be_read_are_refused_together(tmp_path, small):
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"samples/{number}_epoch_1.json", "0" * 1900)
    with pytest.raises(InputError, match="at most 32,000 are read"):
        read_logs(tmp_path / "log.eval")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "a: 2024-99-99",
        "a: " + "9" * 5000,
        "a: !!python/object:os.system x",
    ],
    ids=["deep", "date", "number", "tag"],
)
def test_yaml_of_a_stranger_is_refused_in_one_sentence(tmp_path, text):
    for name, read in {"who.yaml": load_respondents, "prompt.yaml": load_prompt}.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=name):
            read(tmp_path / name)
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(InputError, match=r"config\.yaml"):
        Run.open(tmp_path)
