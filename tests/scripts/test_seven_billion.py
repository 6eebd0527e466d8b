"""The trial of a large checkpoint, in small: ours equals bare hooks, and nothing is left behind."""

import json
import sys

import pytest
import seven_billion


@pytest.mark.long
def test_a_small_checkpoint_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["seven_billion.py", str(tmp_path), "--small"])
    assert seven_billion.main() == 0
    table = json.loads((tmp_path / "table.json").read_text())
    assert set(table) == {"about", *seven_billion.STEPS}
    assert table["proof"]["allowed"] == ["all", "last"]
    assert table["margins"]["read"] == seven_billion.N_QUESTIONS
    assert max(table["margins"]["off a bare forward"], table["sweep"]["off a bare hook"]) < 0.1
    assert table["texts"]["off a bare hook"] < 0.2
    assert not (tmp_path / "checkpoint").exists()


def test_a_disk_without_room_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(seven_billion, "ROOM", 1e12)
    with pytest.raises(seven_billion.InputError, match="no room for"):
        seven_billion.write_checkpoint(tmp_path, small=True)
