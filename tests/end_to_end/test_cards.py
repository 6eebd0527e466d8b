"""How objects show themselves in Jupyter."""

from pathlib import Path

from common import html_card
from matching import SweepRun
from steering import SteeringVector

GOLDEN = Path(__file__).resolve().parents[1] / "reference" / "golden" / "default"


def test_text_of_users_stays_text():
    card = html_card("<b>run</b>", {"<i>": "</script>", "left out": None})
    assert card == (
        "<div><b>&lt;b&gt;run&lt;/b&gt;</b><table><tr><th>&lt;i&gt;</th><td>&lt;/script&gt;</td></tr></table></div>"
    )


def test_a_run_its_verdict_its_vector_and_its_factor_show_what_they_are():
    run = SweepRun.open(GOLDEN)
    assert run.verdict()["sentence"] in run._repr_html_()
    assert f"<th>{run.matches().index[0]}</th>" in run._repr_html_()
    verdict = run.judge(seed=0).verdict
    assert verdict.sentence in verdict._repr_html_()
    assert f"S {verdict.signal.estimate:.3f}" in verdict._repr_html_()
    factor = run.factor()._repr_html_()
    assert "factor model of" in factor
    assert "threshold" in factor
    (file,) = (GOLDEN / "vectors").glob("*.safetensors")
    assert "steering vector L21-response-mean_difference" in SteeringVector.load(file)._repr_html_()
