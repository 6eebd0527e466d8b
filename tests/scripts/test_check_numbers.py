"""Numbers of the pages against stored results: what is held, what is told, and what is written anew."""

import importlib

import pytest

from onedial.core.errors import InputError

KAPPA = {"phrase": "mean kappa is {}", "is": "r.json signal.value"}
SHARE = {"phrase": "{}% of {}", "is": ["r.json signal.share", "r.json n"]}


@pytest.fixture
def check(tmp_path, monkeypatch):
    """What is wrong on a page, given what its numbers repeat."""
    script = importlib.import_module("check_numbers")
    monkeypatch.setattr(script, "REFERENCE", tmp_path)
    (tmp_path / "r.json").write_text('{"signal": {"value": 0.1514, "share": 0.29}, "n": 1200, "loss": -0.5}')
    (tmp_path / "r.csv").write_text("who,kind,rate,low,high\nann,a,.254,.1,.4\nbob,b,.5,.3,.7\neve,b,,,\n")

    def run(text, *entries, write=False):
        (tmp_path / "page.md").write_text(text)
        return script.checked(tmp_path / "page.md", entries, write=write)

    return run


@pytest.mark.parametrize(
    ("text", "entry", "wrong"),
    [
        ("The mean\n  kappa is .15 (all)", KAPPA, ""),
        ("The **mean kappa** is `.15`", KAPPA, ""),
        ("The [mean kappa](method.md#s) is .151", KAPPA, ""),
        ("The mean kappa is .16", KAPPA, ".16 is said, but r.json holds 0.1514"),
        ("The mean kappa is .15.2", KAPPA, "no sentences say"),
        ("The mean kappa is .15, the mean kappa is .15", KAPPA, "2 sentences say"),
        ("29% of 1,200", SHARE, ""),
        ("\u2212.5 lost", {"phrase": "{} lost", "is": "r.json loss"}, ""),
        ("At 5%.", {"phrase": "At {}%.", "is": "onedial/stats/level.py LEVEL"}, ""),
        ("ann has .25", {"phrase": "ann has {}", "is": "r.csv who=ann rate"}, ""),
        ("of 2 b", {"phrase": "of {} b", "is": "r.csv kind=b count"}, ""),
        ("at most .7", {"phrase": "at most {}", "is": "r.csv rate>0 max(high)"}, ""),
    ],
)
def test_a_number_in_a_sentence_is_the_stored_one_in_its_digits(check, text, entry, wrong):
    result = check(text, entry)
    assert bool(result) == bool(wrong)
    assert wrong in "".join(result)


RATES = {
    "table": "rates",
    "of": "r.csv",
    "columns": {"who": "{row}", "rate [95%]": "{rate:.2f} [{low:.0%}, {high:.1f}]"},
}
WRITTEN = "\n| who | rate [95%] |\n| --- | --- |\n| ann | .25 [10%, .4] |\n| bob | .50 [30%, .7] |\n| eve |  |\n\n"


def test_a_table_is_written_from_its_result_and_held_to_it(check, tmp_path):
    page = "Said.\n\n<!-- rates -->\n{}<!-- end -->\n\nMore.\n"
    assert "the table 'rates' is not that of its result" in check(page.format("| old |\n"), RATES)[0]
    assert check(page.format(""), RATES, write=True) == []
    assert (tmp_path / "page.md").read_text() == page.format(WRITTEN)
    assert "does not stand there once" in check("Said.\n", RATES)[0]


def test_a_value_that_is_not_there_is_refused(check):
    with pytest.raises(InputError, match=r"no stored result nowhere\.json"):
        check("a 1", {"phrase": "a {}", "is": "nowhere.json n"})
    with pytest.raises(InputError, match="has 2 rows"):
        check("a 1", {"phrase": "a {}", "is": "r.csv kind=b rate"})
    with pytest.raises(InputError, match="no row 'zoe'"):
        check("<!-- rates -->\n<!-- end -->", RATES | {"rows": ["zoe"]})
