"""The directions of docs/own.md, made on the embedded model, do what the page says they do."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own.md"


@pytest.mark.long
def test_along_the_directions_of_the_page_what_is_written_turns_as_it_says():
    namespace = {"__name__": "page"}
    sentiment, refusal, confidence, *_ = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for text in (sentiment, refusal, confidence):
        exec(compile(text, PAGE.name, "exec"), namespace)
    unhappy, plain, happy = namespace["weekend"].values()
    assert "sorry" in unhappy
    assert "glad" in happy
    assert not {"sorry", "glad"} & set(plain.lower().split())
    assert "not possible" in namespace["eggs"][0.3]
    assert "not possible" not in namespace["eggs"][0.0]
    plain, surer = namespace["told"].values()
    assert "believed" in plain
    assert not {"believed", "attributed"} & set(surer.split())
