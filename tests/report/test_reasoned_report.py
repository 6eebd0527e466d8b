"""What a report says of answers that were written after a reasoning."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from blank import draw_nothing
from reporting_run import OF_RUN, VECTOR_ID, make_run

from onedial.report.report import contents_of, end_sweep
from onedial.report.results import SWEEP_RESULTS
from onedial.show.results import finish

OF_REASONS = [name for name in SWEEP_RESULTS if name.startswith("reasoned")]
SETTINGS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def with_reasons(run, unread_share, seed=0):
    """The same run with texts that say what the first token says, a share of them without a yes or no."""
    rng, sweep = np.random.default_rng(seed), run.sweep()
    kept = sweep[np.isclose(sweep["magnitude"].to_numpy()[:, None], SETTINGS).any(axis=1)]
    kept = kept[kept["question_id"].map(run.splits()) != "extraction"]
    read = rng.uniform(size=len(kept)) >= unread_share
    said_yes = (kept["margin"] > 0).astype(float).where(read)
    words = np.where(read, np.where(said_yes == 1, "I know it. Answer: Yes", "I doubt it. Answer: No"), "<b>hm & hm")
    run.parts["reasoned"].append(kept.assign(said_yes=said_yes, tokens_out=8, text=words, intervention_id=VECTOR_ID))
    finish(run.run, {name: SWEEP_RESULTS[name] for name in OF_REASONS}, judged(run))
    end_sweep(run)
    return run


def judged(run):
    return SimpleNamespace(reasoned=run.judge_reasoned(), verdict=OF_RUN[run.path].verdict)


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched.setattr)
        return with_reasons(make_run(tmp_path_factory.mktemp("read") / "run", n_targets=12), 0.0)


def test_both_verdicts_stand_side_by_side_with_texts_at_three_settings(read):
    html, result = (read.path / "report.html").read_text("utf-8"), contents_of(read).numbers("reasoned")
    assert result["verdict"]["sentence"] in html.replace("&#39;", "'")
    assert read.verdict().sentence in html.replace("&#39;", "'")
    whole, table = html.count("Answer: Yes") + html.count("Answer: No"), html.index('id="explorer-data"')
    assert whole - (json := html[table:].split("</script>")[0]).count("Answer: ") == 3
    assert json.count('"text":"') == len(read.parts["reasoned"].read())
    assert result["rho"] > 0.9
    dials = pd.read_csv(read.path / "reasoned_dials.csv").set_index("dial")
    assert dials.loc["first token", "signal"] == pytest.approx(read.verdict().signal.value)
    assert dials.loc["after reasoning", "bits"] == pytest.approx(result["verdict"]["prediction"]["bits"]["value"])
    assert "what either dial is worth" in html
    assert (read.path / "figures" / "reasoned.svg").is_file()


def test_texts_that_mostly_cannot_be_read_are_judged_by_nobody(undrawn, tmp_path):
    run = with_reasons(make_run(tmp_path / "run", n_targets=6), 0.8)
    html, result = (run.path / "report.html").read_text("utf-8"), contents_of(run).numbers("reasoned")
    assert result["verdict"] is None
    assert "hold no clear yes or no" in result["sentence"]
    assert "Too few of the texts can be read for a verdict by them" in html
    assert "<b>hm" not in html
