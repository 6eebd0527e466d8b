"""The report: one file, the verdict's own numbers, and no outcome dressed up."""

import base64
import functools
import hashlib
import itertools
import json
import re
import shutil
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from reporting_run import VECTOR_ID, intervention, make_run
from safetensors.numpy import save_file

from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.report.meaning import findings, headline_of, judged_targets
from onedial.report.report import contents_of, write_report
from onedial.report.sweep_results import facts_rows, missing_rows
from onedial.show.columns import COLUMNS, headline, interval, number, p_value
from onedial.show.results import doubts_of, lines_of, shown_columns
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import (
    ANSWERS,
    ANY_PUSH,
    CANNOT_BE_JUDGED,
    DIALS,
    FLAGS,
    NOT_ENOUGH,
    OPEN,
    PUSHES,
    RULE,
    THIS_DIRECTION,
    THRESHOLD_SHIFT,
    UNREAD_DECIDE,
    UNTESTED,
    sentence_of,
)

VOID = {"meta", "link", "input", "br", "img", "hr"}
LOADING = {"src", "srcset", "href", "xlink:href", "action", "poster", "data", "background", "cite"}


class Page(HTMLParser):
    """What a browser would load, the visible text, and what stands in each table and at each element of a class."""

    def __init__(self, html):
        super().__init__()
        self.loads, self.values, self.ids, self.words, self.tags, self.tables = [], [], [], [], set(), {}
        self.opened, self.pieces = [], {}
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        self.tags.add(tag)
        self.loads += [value for name, value in attributes if name in LOADING]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag == "data":
            self.values.append(own["value"])
        if "aria-label" in own and own.get("class") == "scroll":
            self.table = self.tables[own["aria-label"]] = []
        if tag == "tr" and self.tables:
            self.table.append([])
        if tag in ("th", "td") and self.tables:
            self.table[-1].append(["", own.get("data-csv", "").split("|")])
        if tag not in VOID:
            self.opened.append((tag, own.get("class")))

    def handle_endtag(self, tag):
        while self.opened and self.opened.pop()[0] != tag:
            pass

    def handle_data(self, data):
        self.words.append(data)
        tags = [tag for tag, _ in self.opened]
        if "table" in tags and tags[-1] in ("th", "td") and self.tables:
            self.table[-1][-1][0] += data
        for name in (tags[-1:] + [kind for _, kind in self.opened]) if tags else []:
            self.pieces.setdefault(name, []).append(data)

    def of_class(self, name):
        return "".join(self.pieces[name])

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


parsed = functools.cache(Page)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("report") / "run", n_targets=12)
    write_report(run)
    return run


@pytest.fixture(scope="module")
def html(run):
    return (run.path / "report.html").read_text(encoding="utf-8")


def test_the_report_loads_nothing_from_outside_and_runs_one_script_of_its_own(html):
    page = parsed(html)
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in page.loads)
    assert not page.tags & {"link", "iframe", "img", "object", "embed"}
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL)
    assert re.findall(r"<script[^>]*>", html) == ['<script type="application/json" id="explorer-data">', "<script>"]
    digest = base64.b64encode(hashlib.sha256(scripts[1].encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert len(html.encode()) < 6_000_000
    assert not re.search(r"@import|url\((?!#)", html)
    assert "http://www.w3.org/TR" not in html


def test_ids_on_the_page_are_unique_and_every_reference_has_its_target(html):
    page = parsed(html)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.loads if link.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(page.ids)


def test_the_numbers_on_the_page_are_those_of_the_verdict(run, html):
    verdict, page = run.verdict(), parsed(html)
    assert headline(verdict["sentence"]) in page.text
    exact = [
        found["value"] for found in (verdict["prediction"]["bits"], *map(verdict.get, ("signal", "gain", "order")))
    ]
    assert [float(value) for value in page.values[:4]] == exact
    assert page.values[4] == ""
    for name, low, high in (("gain", "low", "high"), ("order", "low", "high"), ("order", "low_90", "high_90")):
        assert interval(verdict[name][low], verdict[name][high], signed=True) in page.text
    for value in (verdict["agreement"], verdict["majority"], verdict["threshold_shift"]):
        assert number(value, 2) in page.text
    assert number(verdict["gain"]["detectable"]) in page.text
    contents = contents_of(run)
    assert str(contents["baselines"].index[0]) in page.text
    for words, value in contents.results["path"].rows(None, contents):
        assert f"{words} {value}" in page.text
    assert f"{verdict['n_eligible']} of {verdict['n_targets']} targets judged" in page.text


@pytest.mark.parametrize("name", ["matches", "baselines"])
def test_the_numbers_behind_a_table_are_those_of_the_run_s_file_and_its_cells_are_these_rounded(run, html, name):
    head, *rows = parsed(html).tables[f"Table of {name}"]
    contents = contents_of(run)
    stored, result = contents[name], contents.results[name]
    columns = shown_columns(result.columns, lines_of(result, stored, contents))
    assert [names for _, names in head[1:]] == [column.names for column in columns]
    assert sorted(row[0][0] for row in rows) == sorted(stored.index)
    for (row, _), *cells in rows:
        for column, (shown, values) in zip(columns, cells, strict=True):
            known = [each for each in zip(column.names, values, strict=False) if each[0] in stored and each[1]]
            for place, (each, value) in enumerate(known):
                assert float(value) == pytest.approx(stored.loc[row, each], rel=1e-6)
                if column.name in stored:
                    written = re.findall(r"[−+]?\d+\.?\d*", shown)[place].replace("−", "-")
                    decimals = len(written.partition(".")[2])
                    assert float(written) == pytest.approx(float(value), abs=0.5001 * 10**-decimals)
            if not known and column.name in stored:
                assert shown in (str(stored.loc[row, column.name]), "–")


def test_every_target_is_in_the_table_of_targets_from_rarely_to_often_yes(run, html):
    matches = run.matches().sort_values("yes_rate", kind="stable")
    rows = parsed(html).tables["Table of matches"][1:]
    assert [(row[0][0], row[1][0]) for row in rows] == list(matches["status"].items())
    missing = run.panel()["said_yes"].isna().groupby(run.panel()["respondent"]).sum()
    assert [float(row[-1][0]) for row in rows] == [missing[target] for target in matches.index]


def leaves(value):
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    if isinstance(value, list):
        return [float(len(value)), *(leaf for each in value for leaf in leaves(each))]
    return [float(value)] if isinstance(value, int | float) else []


CONSTANTS = {"95%", "90%", ".1", ".9", "0", "4", "5", "100", "99", "1", "2", "3"}
"""Levels, yes rates and small counts in the wording of cards and doubts."""


@pytest.mark.parametrize("place", ["findings", "doubts"])
def test_every_number_of_the_overview_and_the_cards_is_one_of_the_run(run, html, place):
    """Of the texts there, each numeral is a number of the verdict, or a count of its tables, in so many digits."""
    verdict, text = run.verdict(), parsed(html).of_class(place)
    for name in (*verdict["models"], *run.matches().index, *contents_of(run)["baselines"].index):
        text = text.replace(str(name), "")
    bits, beyond = (verdict["prediction"][name]["value"] for name in ("bits", "beyond"))
    known = [*leaves(verdict), len(verdict["models"]), len(verdict["excluded"]), bits - beyond]
    known += [each + 1 for each in leaves(verdict["direction"]) if each == int(each)]
    dose = run.dose_response().groupby("magnitude")[["n", "n_unread"]].sum()
    known.append(float((dose["n_unread"] / dose.sum(axis=1)).max()))
    found = re.findall(r"(?<![\w.])[−+]?\d*\.?\d+%?", text)
    assert found
    for numeral in found:
        plain = numeral.replace("−", "-").rstrip("%")
        decimals = len(plain.partition(".")[2]) + 2 * numeral.endswith("%")
        value = float(plain) / (100 if numeral.endswith("%") else 1)
        close = any(abs(abs(value) - abs(each)) <= 0.5001 * 10**-decimals for each in known)
        in_100 = any(abs(abs(value) - 100 * abs(each)) <= 0.0501 for each in known)
        assert numeral in CONSTANTS or close or in_100, numeral


def doubted(run, **changes):
    contents = contents_of(run)
    contents.__dict__["verdict"] = contents._read["verdict.json"] = run.verdict() | changes
    return [about for _, about in doubts_of(contents)]


def test_what_is_to_be_doubted_follows_from_the_verdict(run):
    found = run.verdict()
    gain = found["gain"]
    assert ("verdict" in doubted(run, gain=gain | {"low": 0.01})) < (
        "verdict" in doubted(run, gain=gain | {"low": -0.01})
    )
    assert ("matches" in doubted(run, excluded={})) < ("matches" in doubted(run, excluded={"a": "few"}))
    assert ("controls" in doubted(run, push=THIS_DIRECTION)) < ("controls" in doubted(run, push=UNTESTED))
    many = {str(n): {} for n in range(5)}
    assert ("models" in doubted(run, models=many)) < ("models" in doubted(run, models={"a": {}}))
    assert ("remedies" in doubted(run)) < ("remedies" in doubted(run, reproduced=CANNOT_BE_JUDGED))
    assert len(doubted(run, flags=list(FLAGS))) > len(doubted(run, flags=[], screening=[]))


def test_every_doubt_and_every_line_of_the_contents_leads_somewhere(html):
    links = re.findall(r'<a href="#([^"]+)"', html)
    assert len(links) > 20
    assert set(links) <= set(parsed(html).ids)


def test_every_figure_of_the_run_is_on_its_page(run, html):
    captions = run.run.read_json("figures/captions.json")
    assert {f"{name}-title" for name in captions} <= set(parsed(html).ids)


def test_routine_notes_are_no_warnings(undrawn, run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    noted = SweepRun.open(tmp_path / "run")
    noted.run.note("warning: too few questions", "400 questions are in the panel")
    html = write_report(noted).read_text(encoding="utf-8")
    warned = html[html.index('id="warnings"') : html.index('id="dial"')]
    assert "Too few questions" in warned
    assert "400 questions" not in warned
    assert "400 questions are in the panel" in html[html.index('id="notes"') :]


def test_missing_answers_are_counted(run, html):
    gaps = int(run.panel()["said_yes"].isna().sum())
    assert gaps > 0
    assert f"{gaps} of {len(run.panel())}" in parsed(html).text


def test_the_report_is_the_same_when_written_from_a_copy_of_the_files(run, html, tmp_path):
    copy = tmp_path / "elsewhere" / "run"
    shutil.copytree(run.path, copy, ignore=shutil.ignore_patterns("figures", "report.html"))
    assert write_report(SweepRun.open(copy)).read_text(encoding="utf-8") == html


def test_prompt_command_and_stages_are_shown_and_escaped(run, html):
    page = parsed(html)
    assert "correctly?<|im_end|>" in page.text
    assert "answer <this>" in page.text
    assert "<this>" not in html
    assert run.run.manifest.command in page.text.replace("\n", " ")
    assert "sweep" in page.text


def test_a_finished_run_resumes_to_its_report_alone(undrawn, run, html, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(run.path, copy)
    (copy / "report.html").unlink()
    resumed = SweepRun(Run.resume(copy, "steer_sweep", {**run.config, "resume": True}))
    assert resumed.is_finished
    assert resumed.parts["sweep"].done("question_id") == set(run.questions()["id"])
    assert write_report(resumed).exists()
    assert resumed.verdict() == run.verdict()


def test_a_run_without_a_verdict_is_refused(tmp_path):
    run = make_run(tmp_path / "run")
    (run.path / "verdict.json").unlink()
    with pytest.raises(InputError, match=r"verdict.json is missing; finish the run with --resume"):
        write_report(run)


def test_targets_that_are_matched_at_an_end_are_counted_among_what_the_verdict_does_not_say(run, html):
    edge = run.matches().query("status == 'edge'")
    dose = run.dose_response().query("split == 'fitting'")["yes_rate"]
    inside = edge["yes_rate"].between(dose.min(), dose.max()).sum()
    assert f"{len(edge)} of the {run.verdict()['n_eligible']} judged targets are matched best at an end" in html
    assert f"reaches the yes rate of {inside} of these" in html


@pytest.mark.parametrize(("low", "guessed"), [(0.37, True), (0.61, False), (None, False)])
def test_a_loss_on_facts_that_the_subject_only_guesses_is_said_to_say_nothing(low, guessed):
    measured = {"value": 0.5, "low": 0.5, "high": 0.5}
    found = {"share": measured, "loss": measured, "accuracy": measured | {"low": low}, "n": 60, "n_unread": 0}
    rows = dict(facts_rows(found | dict.fromkeys(("shrink", "from_magnitude", "to_magnitude"), 0.5)))
    assert ("no better than guessing" in rows["answered rightly, unsteered"]) == guessed


def test_a_run_without_factor_model_and_layer_scan_has_a_report(undrawn, tmp_path):
    run = make_run(tmp_path / "run", n_targets=2)
    assert run.factor() is None
    (run.path / "layer_scan.csv").unlink()
    text = parsed(write_report(run).read_text(encoding="utf-8")).text
    assert "One shared difficulty?" not in text
    assert "Cannot be judged: 1 of 2 targets can be judged, and it takes 5" in text


def test_controls_beside_the_own_vector_are_lines_of_their_own_in_the_dose_response(run, html, tmp_path):
    run = SweepRun.open(shutil.copytree(run.path, tmp_path / "run"))
    sweep = run.sweep()
    run.write_interventions([intervention(VECTOR_ID, sweep), intervention("control", sweep, "random")])
    run.parts["sweep"].append(sweep.assign(intervention_id="control", margin=-1.0))
    after = write_report(run).read_text(encoding="utf-8")
    drawn = "<title>control control</title>"
    assert drawn in after
    assert drawn not in html


def outcome(
    signal_p=0.001, gain=(0.05, 0.02, 0.08), dial=THRESHOLD_SHIFT, push=UNTESTED, n_controls=0, as_good=(), flags=()
):
    """As much of a verdict.json as the four findings are written from."""
    scopes = dict.fromkeys(("low_topics", "high_topics", "low_models", "high_models"))

    def shown(estimate, low, high):
        return {"value": estimate, "low": low, "high": high, "low_90": low, "high_90": high, **scopes}

    return {
        "prediction": {"bits": shown(None, None, None), "possible": {}, "share": {}},
        "signal": shown(0.2, 0.1, 0.3) | {"p": signal_p, "null_mean": 0.0, "null_95": 0.05, "n_permutations": 1999},
        "gain": shown(*gain) | {"detectable": 0.03},
        "order": shown(0.01, 0.0, 0.02) | {"rho": {"value": 0.95, "low": 0.9, "high": 0.97, "n": 300}},
        "dial": dial,
        "push": push,
        "flags": list(flags),
        "unread_as_wrong": {
            **{"reproduced": NOT_ENOUGH, "signal": 0.19, "p": 0.002},
            **{"gain": 0.004, "gain_low": -0.01, "gain_high": 0.02},
        },
        "direction": {
            "n_controls": n_controls,
            "by": "push" if n_controls else "",
            "rank": 1 if n_controls else None,
            "p": 1 / (n_controls + 1),
            "ranks": dict.fromkeys(("signal", "order_gain", "push"), 1),
            "vector": {"push": 0.12},
            "as_good": list(as_good),
        },
    }


def test_where_unread_answers_decide_the_gain_says_what_they_would_make_of_it():
    without, with_them = (findings(outcome(flags=flags))[2].meaning for flags in ((), (UNREAD_DECIDE,)))
    assert with_them.startswith(without)
    assert "G +0.004 [\u22120.010, +0.020], and the first answer is another one: a shared signal" in with_them


@pytest.mark.parametrize(
    ("verdict", "place", "words"),
    [
        (outcome(), 2, "5.0 more in every 100"),
        (outcome(gain=(-0.05, -0.08, -0.02)), 2, "5.0 more questions in every 100"),
        (outcome(push=ANY_PUSH, n_controls=99, as_good=["random-7"]), 4, "90% of it: random-7."),
        (outcome(n_controls=19), 4, "19 drawn controls"),
    ],
)
def test_an_outcome_is_told_with_its_numbers(verdict, place, words):
    assert words in findings(verdict)[place].meaning


@pytest.mark.parametrize(
    ("p", "shown"), [(None, "\u2013"), (0.25, "0.250"), (0.0005, "0.0005"), (0.00005, "0.0001"), (1e-9, "<0.0001")]
)
def test_no_p_value_is_shown_as_nothing(p, shown):
    assert p_value(p) == shown


@pytest.mark.parametrize(
    ("reproduced", "words"), [(NOT_ENOUGH, "targets judged"), (CANNOT_BE_JUDGED, "targets could be judged")]
)
def test_only_a_verdict_that_was_given_calls_its_targets_judged(reproduced, words):
    assert judged_targets({"reproduced": reproduced, "n_eligible": 13, "n_targets": 18}) == f"13 of 18 {words}"


def test_a_rank_among_too_few_controls_is_no_headline():
    judged, untested = (findings(outcome(push=push, n_controls=n))[4] for push, n in ((ANY_PUSH, 99), (UNTESTED, 19)))
    assert judged.shown == "rank 1"
    assert untested.shown == "untested"
    assert "rank 1 of 20" in untested.details[1]


def test_different_outcomes_never_share_a_sentence():
    gains = [(0.05, 0.02, 0.08), (0.0, -0.03, 0.03), (-0.05, -0.08, -0.02), (None, None, None)]
    told = [
        [findings(outcome(signal_p=p))[1].meaning for p in (0.001, 0.4)],
        [findings(outcome(gain=gain))[2].meaning for gain in gains],
        [findings(outcome(dial=dial))[3].meaning for dial in DIALS],
        [findings(outcome(push=push, n_controls=99))[4].meaning for push in PUSHES] + [findings(outcome())[4].meaning],
    ]
    for meanings in told:
        assert all(one != other for one, other in itertools.combinations(meanings, 2))


@pytest.mark.parametrize("reproduced", ANSWERS)
def test_every_answer_opens_the_report_with_the_same_weight(reproduced, run, tmp_path, monkeypatch):
    monkeypatch.setattr("onedial.show.results.draw", lambda stored: None)
    shutil.copytree(run.path, tmp_path / "run")
    other = SweepRun.open(tmp_path / "run")
    sentence = sentence_of(reproduced, "the dial does not reach", OPEN, UNTESTED, list(FLAGS))
    other.run.write_json("verdict.json", run.verdict() | {"sentence": sentence, "reproduced": reproduced})
    page = write_report(other).read_text(encoding="utf-8")
    found = re.sub("<[^>]+>", "", re.search("<h1>(.*?)</h1>", page)[1])
    assert unescape(found) == headline_of(other.verdict())
    assert reproduced in found.lower()
    assert headline(sentence) in unescape(page)


def test_a_verdict_of_an_older_rule_is_named_and_not_shown_under_new_words(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    older = SweepRun.open(tmp_path / "run")
    older.run.write_json("verdict.json", {"rule": 2, "sentence": "reproduced by a threshold shift"})
    with pytest.raises(InputError, match=rf"judged by rule 2, .* rule {RULE}; judge it again"):
        write_report(older)


def test_numbers_are_written_for_readers():
    assert number(-0.01234) == "−0.012"
    assert number(0.5, 2, signed=True) == "+0.50"
    assert number(None) == number(float("nan")) == "–"
    assert interval(None, 1.0) == "–"


def test_the_most_unread_magnitude_counts_answers_not_splits():
    dose = pd.DataFrame(
        {
            "split": ["fitting", "test"] * 2,
            "magnitude": [0.0, 0.0, 1.0, 1.0],
            "n": [25, 50, 24, 50],
            "n_unread": [0, 0, 1, 0],
        }
    )
    questions = pd.DataFrame({"split": ["fitting"] * 25 + ["test"] * 50})
    rows = dict(missing_rows(dose, pd.DataFrame({"said_yes": [1.0]}), questions))
    assert rows["most unread"].startswith("1.3% at magnitude 1")


def test_answers_that_overflowed_are_counted_apart_from_those_that_could_not_be_read(undrawn, tmp_path):
    def overflowing(sweep):
        lost = (sweep["magnitude"] == sweep["magnitude"].max()) & sweep["question_id"].isin(sweep["question_id"][:9])
        return sweep.assign(margin=sweep["margin"].mask(lost), mass=sweep["mass"].mask(lost))

    run = make_run(tmp_path / "run", n_targets=6, answered=overflowing)
    lost = run.overflowed()
    assert 0 < len(lost) < run.sweep()["mass"].isna().sum() + 1
    text = parsed(write_report(run).read_text(encoding="utf-8")).text
    assert f"of these, overflowed (no finite logits) {len(lost)}" in " ".join(text.split())
    assert f"{len(lost)} answers of the subject overflowed" in text


def test_a_yes_among_right_or_wrong_answers_says_of_how_many():
    row = {"yes_within_right": 0.5, "yes_within_wrong": 0.4, "n_within_right": 25, "n_within_wrong": 15}
    columns = [COLUMNS[name] for name in ("yes_within_right", "yes_within_wrong")]
    assert [column.shown(row) for column in columns] == ["0.50 (n 25)", "0.40 (n 15)"]


def test_a_run_that_cannot_be_judged_shows_no_line_and_no_empty_number(undrawn, tmp_path):
    run = make_run(tmp_path / "run", n_targets=6, n_questions=80)
    text = parsed(write_report(run).read_text(encoding="utf-8")).text
    assert not (run.path / "figures" / "magnitude_threshold.svg").exists()
    assert "– steered" not in text
    assert "a true gain of –" not in text
    assert "The dial's path through the factor" not in text
    assert "without steering?" not in text


def test_a_dial_that_runs_the_wrong_way_is_among_the_doubts(run):
    contents = contents_of(run)
    contents.__dict__["grid"] = replace(contents.grid, margins=contents.grid.margins[:, ::-1])
    assert any("the wrong way" in words for words, _ in doubts_of(contents))
    assert not any("the wrong way" in words for words, _ in doubts_of(contents_of(run)))


def test_the_report_names_the_vector_its_contrast_reliability_and_length(tmp_path):
    def told(run):
        contents = contents_of(run)
        return str(contents.results["vector"].rows(None, contents))

    run = make_run(tmp_path / "run")
    assert "not measured" in told(run)
    facts = {"layer": 10, "n_yes": 31, "n_no": 42, "n_unread": 3, "method": "mean_difference", "raw_norm": 5.0}
    metadata = {name: json.dumps(value) for name, value in (facts | {"residual_norm": 50.0}).items()}
    (run.path / "vectors").mkdir()
    save_file({"direction": np.ones(2)}, run.path / run.vector_file(VECTOR_ID), {"format": "x", **metadata})
    halves = {"half_cosine": 0.6, "low": 0.5, "high": 0.7, "reliability": 0.75, "n_said_yes": 31, "n_said_no": 42}
    writable = SweepRun.open(run.path, write=True)
    with writable.run:
        writable.run.record(vector=halves)
    text = told(SweepRun.open(run.path))
    for words in ("31 questions on the side of yes and 42 on that of no (3 unread)", "0.75 (cosine of the halves 0.60"):
        assert words in text
    assert "5.00 as extracted, 0.100 of the median residual norm 50.0" in text
    assert "10 of 30 (counted from 0)" in text
