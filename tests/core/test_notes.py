"""What the libraries say is printed once, and kept."""

from onedial.core.notices import notice
from onedial.core.run.notes import Notes


def test_a_notice_that_comes_again_in_the_same_words_is_printed_once(capsys):
    notes = Notes()
    with notes.collected():
        for text in ("two are left out", "one is blank", "two are left out"):
            notice(text)
    printed = capsys.readouterr()
    assert (printed.out + printed.err).splitlines() == ["two are left out", "one is blank"]
