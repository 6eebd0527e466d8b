"""Agreement by meaning: planted meanings are recovered, a judge that tells nothing is not believed, and what was judged
is not judged again."""

import math

import numpy as np
import pandas as pd
import pytest
from scripted import Scripted, lettered_options

from onedial.asking.respondents import RESPONDENTS, Response
from onedial.asking.store import Store
from onedial.confidence.signals import signal_table
from onedial.panels.questions.question_files import load_questions
from onedial.studies.written.meaning import (
    MEANING_SURER,
    agreement_of_meanings,
    check_of_judge,
    judge_meanings,
    judge_of,
)

POOL = [each for each in load_questions("embedded") if each.answers][:80]
QUESTIONS = POOL[:24]
ACCEPTED = {each.text: set(each.answers) for each in POOL}
WORDINGS = ("alpha {}", "beta {}", "gamma {}", "delta {}", "omega {}")


def reads(prompt, instrument):
    """Two accepted answers mean the same, and so do "alpha 7" and "beta 7"."""
    lines = prompt.user.splitlines()
    asked = next(line.removeprefix("Question: ") for line in lines if line.startswith("Question: "))
    one, other = (line.removeprefix("Answer: ") for line in lines if line.startswith("Answer: "))
    same = one.split()[-1] == other.split()[-1] or {one, other} <= ACCEPTED[asked]
    return [2.0, 0.0] if same else [0.0, 2.0]


def says_a(prompt, instrument):
    same = next(letter for letter, option in lettered_options(prompt).items() if "same" in option)
    return [2.0, 0.0] if same == "A" else [0.0, 2.0]


def written(rng, own_meaning):
    """Five samples and the likeliest answer of each question, each in words of its own; where it knows the answer, all
    of one meaning, if meanings are planted."""
    rows, right = [], {}
    for number, question in enumerate(QUESTIONS):
        right[question.id] = float(number % 2)
        for sample in range(6):
            meaning = number if own_meaning and right[question.id] else rng.integers(100, 103)
            text = rng.choice(WORDINGS).format(meaning) if not own_meaning else WORDINGS[sample % 5].format(meaning)
            rows.append(["m", question.id, sample, text])
    return pd.DataFrame(rows, columns=["model", "question_id", "sample", "text"]).assign(mean_log_p=-1.0), right


@pytest.fixture
def judged(tmp_path, monkeypatch):
    def judge(rule, table, file="answers.jsonl", kind=Scripted):
        monkeypatch.setitem(RESPONDENTS, "judge", lambda seed: kind(rule))
        store = Store(tmp_path / file)
        return judge_meanings(judge_of("judge", store), "judge", store, table, POOL, 0)

    return judge


def test_planted_meanings_are_recovered_where_equal_words_show_nothing(judged):
    table, right = written(np.random.default_rng(0), own_meaning=True)
    result = judged(reads, table)
    check, _, tells = check_of_judge(result, "judge")
    assert tells
    assert check["said_same"].tolist() == [1, 0]
    assert (check["n"] >= 20).all()
    scores, counts = agreement_of_meanings(result, QUESTIONS, table)
    known = scores.loc[[key for key, value in right.items() if value]]
    assert (known["discrete semantic entropy"] == 0).all()
    assert (known[["largest meaning", "means the same as the likeliest"]] == 1).all(axis=None)
    assert [counts[name] for name in ("questions", "n_unread", "intransitive")] == [24, 0, 0]
    assert counts["judgements"] == sum(math.comb(n, 2) for n in table.groupby("question_id")["text"].nunique())
    signals = signal_table(scores * pd.Series(MEANING_SURER), pd.Series(right), None, None, 99)
    for name in ("discrete semantic entropy", "largest meaning"):
        assert signals.loc[name, "low"] > 0.5


@pytest.mark.long
def test_samples_that_agree_by_chance_tell_nothing(judged):
    """Samples that agree by chance of wording and of meaning tell nothing."""
    intervals = []
    for seed in range(6):
        table, right = written(np.random.default_rng(seed), own_meaning=False)
        scores, _ = agreement_of_meanings(judged(reads, table, f"{seed}.jsonl"), QUESTIONS, table)
        signals = signal_table(scores * pd.Series(MEANING_SURER), pd.Series(right), None, None, 199)
        row = signals.loc["discrete semantic entropy"]
        intervals.append(row["low"] <= 0.5 <= row["high"])
    assert sum(intervals) >= 5  # of 6; one in twenty misses


def test_a_judge_that_goes_by_the_letter_or_is_unread_is_not_believed(judged):
    table, _ = written(np.random.default_rng(0), own_meaning=True)
    _, sentence, tells = check_of_judge(judged(says_a, table), "judge")
    assert not tells
    assert "does not tell them apart" in sentence
    result = judged(lambda *_: [np.nan, np.nan], table, "mute.jsonl")
    check, _, tells = check_of_judge(result, "judge")
    assert not tells
    assert (check["n_unread"] >= 20).all()
    scores, counts = agreement_of_meanings(result, QUESTIONS, table)
    assert scores.isna().all(axis=None)
    assert counts["n_unread"] == 24


def test_a_judgement_that_failed_is_blank_and_told_and_asked_again_alone(judged):
    table, _ = written(np.random.default_rng(0), own_meaning=True)
    n_asked, failing = [0], True

    class Broken(Scripted):
        def answer(self, prompts, instrument):
            n_asked[0] += len(prompts)
            for response in super().answer(prompts, instrument):
                lost = failing and "omega" in prompts[response.place].user
                yield Response(response.place, error="500 (try later)") if lost else response

    with pytest.warns(match=r"requests failed \(\d+: 500 \(try later\)\); they are blank"):
        result = judged(reads, table, kind=Broken)
    scores, counts = agreement_of_meanings(result, QUESTIONS, table)
    assert counts["n_unread"] > 0
    assert scores["largest meaning"].isna().sum() >= counts["n_unread"]
    failing, n_asked = False, [0]
    again = judged(reads, table, kind=Broken)
    assert agreement_of_meanings(again, QUESTIONS, table)[1]["n_unread"] == 0
    assert 0 < n_asked[0] < 4 * len(again)
    n_asked[0] = 0
    pd.testing.assert_frame_equal(judged(reads, table, kind=Broken), again)
    assert n_asked[0] == 0
