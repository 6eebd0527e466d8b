"""What the model writes on demand: for this viewer's own pages alone, one question at a time, told as it comes."""

import threading
from urllib.parse import urlencode

import pytest
from blank import draw_nothing
from reporting_run import make_run
from viewed_runs import Read

from onedial.core import InputError
from onedial.report import write_report
from onedial.view import Desk, RunFolder, Viewer
from onedial.view.desk import Wanted


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched.setattr)
        write_report(make_run(folder / "one", n_questions=160))
    return folder


class Slow:
    """A writer that waits to be let go on before every text."""

    def __init__(self):
        self.goes_on, self.asked = threading.Semaphore(0), []

    def __call__(self, wanted, magnitudes, tell):
        self.asked.append((wanted, magnitudes))
        for magnitude in magnitudes:
            tell(f"writing at {magnitude:+.2f}")
            self.goes_on.acquire()
            tell("a word")
            yield f"<b>{wanted.question}</b> at {magnitude:+.2f}"


def posted(viewer, desk, **fields):
    given = {"token": desk.token, "id": "q0001", "magnitude": "0.5"} | fields
    return viewer.take("/run/one/write", urlencode(given))


def page(viewer, question="q0001", alone=""):
    return Read(viewer.answer(f"/run/one/question?id={question}&alone={alone}").body)


def test_texts_appear_one_by_one_while_nothing_else_can_be_asked_for(folder):
    write = Slow()
    desk = Desk(write)
    viewer = Viewer(RunFolder(folder), desk)
    answer = posted(viewer, desk)
    assert (answer.status, answer.to) == (303, "/run/one/question?id=q0001&magnitude=0.5#live")
    (wanted, magnitudes) = write.asked[0]
    assert wanted == Wanted(folder.resolve() / "one", "q0001", alone=False)
    assert magnitudes[0] < magnitudes[1] == 0 < magnitudes[2]
    refused = posted(viewer, desk, id="q0002")
    assert refused.status == 409
    assert "question q0001 of one is being written about" in Read(refused.body).text
    shown = page(viewer)
    assert ("div", {"id": "live", "data-again": "1"}) in shown.tags
    assert "form" not in {tag for tag, _ in shown.tags}
    assert "writing about question q0001" in page(viewer, "q0002").text
    for _ in magnitudes:
        write.goes_on.release()
    desk._thread.join()
    shown = page(viewer)
    assert [text for text in (f"<b>q0001</b> at {m:+.2f}" for m in magnitudes) if text not in shown.text] == []
    assert ("div", {"id": "live"}) in shown.tags
    assert "<b>q0001</b>" not in page(viewer, alone="yes").text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"token": "guessed"}, "does not come from a page of this viewer"),
        ({"token": "é"}, "does not come from a page of this viewer"),
        ({"id": "../../q"}, "asks no question"),
        ({"id": ""}, "asks no question"),
    ],
)
def test_what_this_viewer_did_not_offer_is_not_written(folder, fields, words):
    write = Slow()
    desk = Desk(write)
    refused = posted(Viewer(RunFolder(folder), desk), desk, **fields)
    assert refused.status == 409
    assert words in Read(refused.body).text
    assert write.asked == []


def test_a_viewer_without_a_desk_offers_nothing_and_takes_nothing(folder):
    viewer = Viewer(RunFolder(folder))
    assert viewer.take("/run/one/write", "id=q0001").status == 404
    assert "form" not in {tag for tag, _ in page(viewer).tags}


@pytest.mark.parametrize(
    ("error", "words"), [(InputError("no model here"), "no model here"), (KeyError("x"), "could not write")]
)
def test_a_model_that_cannot_write_is_said_and_the_next_question_may_be_asked(folder, error, words):
    def write(wanted, magnitudes, tell):
        yield "first"
        raise error

    desk = Desk(write)
    viewer = Viewer(RunFolder(folder), desk)
    posted(viewer, desk)
    desk._thread.join()
    shown = page(viewer)
    assert "first" in shown.text
    assert words in shown.text
    assert posted(viewer, desk, id="q0002").status == 303


def test_closing_ends_the_writing_at_the_next_word(folder):
    write = Slow()
    desk = Desk(write)
    posted(Viewer(RunFolder(folder), desk), desk)
    threading.Timer(0.05, write.goes_on.release).start()
    desk.close()
    sheet = desk.sheet(write.asked[0][0])
    assert sheet.is_done
    assert sheet.texts == []
