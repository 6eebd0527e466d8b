"""The first sentence of a probing run is no stronger than its table."""

import pandas as pd

from probes.results import headline_of

ROW = {"auroc": 0.9, "low": 0.85, "high": 0.94, "text": 0.7, "over_text_low": 0.1, "n": 120, "n_positive": 60}
ROW |= {"p_reads": 0.002, "p_adds": 0.002}


def table(**correct):
    rows = {"own yes": ROW, "own correct": ROW | correct} | {f"yes: target {i}": ROW for i in range(13)}
    return {"chosen": pd.DataFrame.from_dict(rows, orient="index")}


def test_a_label_is_read_where_its_interval_and_its_adjusted_p_say_so():
    assert "Not shown" not in headline_of(table())
    weak = table(auroc=0.68, low=0.48, high=0.8, n_positive=23)
    clause = headline_of(weak).partition("Not shown to be read, among 15 labels: ")[2]
    assert clause == "its own correctness at 0.68 (0.48 to 0.80; 23 of 120 questions carry it)."
    many = table(p_reads=0.04)
    many["chosen"].loc["yes: target 0":, "p_reads"] = 0.5
    assert "its own correctness" in headline_of(many).partition("Not shown")[2]


def test_more_than_words_takes_a_gain_whose_interval_is_above_0():
    assert "correctness at 0.90 (0.85 to 0.94; more than words alone, 0.70)" in headline_of(table())
    clause = "correctness at 0.90 (0.85 to 0.94; not clearly more than words alone, 0.70)"
    assert clause in headline_of(table(over_text_low=-0.09))
    assert clause in headline_of(table(p_adds=0.06))
