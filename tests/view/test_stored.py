"""Whatever a run stores is listed, shown as a table and handed out; the ends of an interval stand beside its number."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from onedial.core import InputError, Run, read_table
from onedial.view import RunFolder, Viewer
from onedial.view.stored import as_table, listed, stored_files
from onedial.view.tables import Asked, shown

COLUMNS = ["question_id", "said"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a program that the viewer knows nothing of."""
    with Run.create(tmp_path_factory.mktemp("runs") / "own", "a_new_program", {"seed": 3}) as run:
        run.write_table("deep/er/table.csv", pd.DataFrame({"model": ["a", "b"], "auroc": [0.7, 0.8]}))
        parts = run.parts("answers", COLUMNS, COLUMNS[:1])
        parts.append(pd.DataFrame({"question_id": ["q1"], "said": ["yes"]}))
        parts.append(pd.DataFrame({"question_id": ["q2"], "said": ["no"]}))
        run.write_json("summary.json", {"sentence": "it says so", "fit": {"rmsea": 0.03, "names": ["x", "y"]}})
        run.write_json("list.json", [{"role": "vector", "at": {"layer": 3}}, {"role": "random", "at": {"layer": 4}}])
        run.write_text("text.txt", "first\n\n  third")
        save_file({"direction": np.zeros((2, 3), np.float32)}, run.file("vectors/v.safetensors"), {"layer": "7"})
        run.write_text("odd.bin", "0101")
    Run.create(run.path / "judged", "another", {}).release()
    return run


def read(run, name):
    return as_table(stored_files(run.path)[name])


def test_every_file_is_listed_once_but_for_hidden_ones_and_runs_within(run):
    (run.path / ".hidden").write_text("x")
    files = listed(stored_files(run.path)).set_index("file")
    assert set(files.index) == {
        *("answers", "config.yaml", "deep/er/table.csv", "list.json", "log.txt", "manifest.json", "odd.bin"),
        *("sha256.txt", "summary.json", "text.txt", "vectors/v.safetensors"),
    }
    assert files.loc["answers", "holds"] == "2 rows: question_id, said"
    assert files.loc["deep/er/table.csv", "holds"] == "table: model, auroc"
    assert files.loc["odd.bin", "holds"] == "bin file"
    assert files.loc["odd.bin", "kB"] == pytest.approx((run.path / "odd.bin").stat().st_size / 1024)


def test_each_kind_of_file_becomes_a_table(run):
    assert read(run, "answers")["said"].tolist() == ["yes", "no"]
    summary = read(run, "summary.json").set_index("name")["value"]
    assert summary.to_dict() == {"sentence": "it says so", "fit.rmsea": "0.03", "fit.names": '["x", "y"]'}
    assert read(run, "list.json")["at.layer"].tolist() == [3, 4]
    assert read(run, "text.txt")["text"].tolist()[:3] == ["first", "", "  third"]
    tensors = read(run, "vectors/v.safetensors").set_index("name")["value"]
    assert tensors.to_dict() == {"layer": "7", "direction": "F32 [2, 3]"}


def test_what_cannot_be_shown_or_read_is_said_in_a_sentence(run, tmp_path):
    with pytest.raises(InputError, match=r"odd\.bin can be had as it lies there"):
        read(run, "odd.bin")
    for name in ("a.json", "a.safetensors", "a.parquet"):
        (tmp_path / name).write_text("{")
        with pytest.raises(InputError, match=name.replace(".", r"\.")):
            as_table(tmp_path / name)


def test_a_run_of_any_program_has_its_sentence_its_tables_and_its_files(run):
    viewer = Viewer(RunFolder(run.path.parent))
    overview = viewer.answer("/run/own/overview").body.decode()
    assert "It says so" in overview
    for address in ("/run/own/table?name=deep%2Fer%2Ftable.csv", "/run/own/table?name=answers"):
        assert f'href="{address}"' in overview
        assert viewer.answer(address).status == 200
    assert b'href="/run/own/file/odd.bin"' in viewer.answer("/run/own/files").body
    handed = viewer.answer("/run/own/file/deep%2Fer%2Ftable.csv")
    assert handed.name == "table.csv"
    assert handed.kind == "application/octet-stream"
    assert handed.body == (run.path / "deep/er/table.csv").read_bytes()
    logged = viewer.answer("/run/own/table.csv?name=log.txt&filter=text+~+%22run+begun%22").body.decode()
    assert len(logged.splitlines()) == 2


def test_the_ends_of_an_interval_stand_beside_its_number_and_the_csv_keeps_them_apart(tmp_path):
    table = pd.DataFrame(
        {"auroc": [0.7, np.nan], "low": [0.6, np.nan], "high": [0.8, np.nan], "gap_low": [1.0, 2.0], "gap": [2.0, 3.0]}
        | {"gap_high": [3.0, np.nan], "alone_low": [1, 2]}
    )
    page = shown(table, Asked(filter="gap_high > 2 or gap = 3"))
    assert page.columns == ["auroc", "gap", "alone_low"]
    assert page.rows[0][1] == ["0.7 [0.6, 0.8]", "2 [1, 3]", "1"]
    assert page.rows[1][1] == ["–", "3", "2"]
    file = tmp_path / "run"
    with Run.create(file, "p", {}) as run:
        run.write_table("t.csv", table)
    csv = Viewer(RunFolder(tmp_path)).answer("/run/run/table.csv?name=t.csv").body
    (tmp_path / "t.csv").write_bytes(csv)
    assert list(read_table(tmp_path / "t.csv")) == list(table)
    assert json.loads((file / "manifest.json").read_text())["finished"]
