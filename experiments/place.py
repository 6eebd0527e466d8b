"""Where does a new model stand on a panel's scale? From 20 to 30 answers, and which questions to put to it.

    onedial place frontier-confidence --next 25                         # the first questions to ask: next.csv
    onedial place frontier-confidence --answers mine.csv                # question_id,answer: where it stands
    onedial place embedded --model HuggingFaceTB/SmolLM2-360M-Instruct  # asks it, one after the other
    onedial place frontier-confidence --evaluate                        # how good that is: minutes on a core

next.csv has an empty column answer: filled with 1/0 or yes/no it is what --answers takes; what stays blank tells
nothing. Threshold = Phi^-1(yes rate over all of the panel's questions), higher = more often yes. Writes, beside
next.csv, steps.csv (threshold with its 95% interval after each answer), predictions.csv (probability of a yes to every
question not asked), answers.csv (of --model) and figures/; of --evaluate summary.csv and draws.csv: every respondent of
the panel left out with its family and placed as if it were new.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.options import RunOptions, option
from onedial.core.pulse import say
from onedial.core.run.notes import Notes, program
from onedial.studies.options.shared import ColumnOptions, PanelOptions, SubjectOptions, prompt_of
from onedial.studies.start import Start

if TYPE_CHECKING:
    import pandas as pd

    from onedial.models.model import OpenModel
    from onedial.panels.panels import ResponseMatrix
    from onedial.scale.place.placement import Placement
    from onedial.scale.place.question_bank import QuestionBank
    from onedial.show.figure_style import Drawing


PROGRAM = "place"
USUAL, FEWEST_TO_JUDGE = 25, 20
"""Answers that are usually asked for; and from which on something is said of whether a respondent follows the scale."""


@dataclass(frozen=True)
class Found:
    """What is written, and what is said of it: sentences, the first as the headline."""

    sentences: list[str]
    tables: "dict[str, pd.DataFrame]"
    drawings: "dict[str, Drawing]"


@dataclass(frozen=True, kw_only=True)
class PlaceOptions(ColumnOptions, PanelOptions, SubjectOptions, RunOptions, group="place"):
    """Who is placed, by what."""

    model: str = option("", "ask this model here: built-in name, hub id, local folder or GGUF file")
    answers: Path | None = option(
        None, "table of question_id and answer, as given so far", metavar="FILE", excludes=("model", "evaluate")
    )
    evaluate: bool = option(False, "place each respondent of the panel as if it were new", excludes=("model",))
    next: int = option(25, "questions to ask next, or to ask --model", at_least=1, metavar="N")
    draws: int = option(10, "of --evaluate, for each respondent", at_least=1)
    questions: str | None = option(None, "the questions' texts for --model, where the panel has none (embedded)")
    prompt: str | None = option(None, "of --model: file or framing (what the panel was asked)")


def place(options: PlaceOptions, notes: Notes) -> None:
    from onedial.panels.answers_by_hand import load_answers
    from onedial.panels.joining import drop_own
    from onedial.panels.keying import reversed_questions
    from onedial.panels.panel_files import load_panel
    from onedial.show.ending import Opening, end, of_tables
    from onedial.show.results import Stored

    panel = load_panel(options.panel, options.respondents, declared=options.declared)
    if turned := reversed_questions(panel):
        raise InputError(
            f"{options.panel} marks {len(turned)} questions as reversed, first {turned[0]!r}; turn their answers"
        )
    answers = None if options.answers is None else load_answers(options.answers, panel.answers.index, panel.elicitation)
    start = Start(PROGRAM, options, f"place-{Path(options.panel).stem}")
    model = None
    if options.model:
        panel, dropped = drop_own(panel, options.model)
        if dropped:
            notice(f"{len(dropped)} respondents are the model itself and are left out: {', '.join(dropped)}")
        model = start.load_subject(options)
    with start.begin(notes, model) as run, run.withdrawn_if_refused():
        with run.stage("place"):
            result = evaluated(panel, options) if options.evaluate else placed(panel, answers, model, options)
        question = "Where does a respondent stand on the panel's scale?"
        headline, *findings = result.sentences
        results = of_tables(findings, result.tables, result.drawings)
        end(Stored(run, results), Opening(question, headline), case=results)


def evaluated(panel: "ResponseMatrix", options: PlaceOptions) -> Found:
    """How good placing is on the panel's own respondents."""
    from onedial.core.progress import progress_bar
    from onedial.scale.place.evaluation import evaluate_placing, placing_summary
    from onedial.scale.place.question_bank import kin_of
    from onedial.stats.threads import one_blas_thread

    with progress_bar(panel.answers.shape[1], "placing") as advance, one_blas_thread():
        draws = evaluate_placing(
            panel, kin_of(panel.respondents), n_draws=options.draws, seed=options.seed, advance=advance
        )
    summary = placing_summary(draws, panel.respondents["model"], options.seed)
    after = summary.loc[min(summary.index, key=lambda n: abs(n - USUAL))]
    sentence = (
        f"After {after.name} answers the threshold is off by {after['rmse']:.2f} (95% interval {after['rmse_low']:.2f} "
        f"to {after['rmse_high']:.2f}); the yes rate of as many random questions, by {after['yes_rate']:.2f}"
    )
    tables = {"summary": summary, "draws": draws.set_index("respondent")}
    return Found([sentence], tables, {"quality": quality(summary)})


def quality(summary: "pd.DataFrame") -> "Drawing":
    """Error, coverage and bits by number of answers."""
    from dataclasses import replace

    from onedial.show.figure_style import COLOURS
    from onedial.show.plots import Curve, Panel, curves

    def of(name: str, label: str = "", colour: str = COLOURS[0]) -> Curve:
        low, high = summary[f"{name}_low"], summary[f"{name}_high"]
        return Curve(summary.index, summary[name], label, colour, low, high, look={"marker": "o", "markersize": 4})

    errors = [of("rmse", "adaptive, on the scale"), of("yes_rate", "random questions, yes rate alone", COLOURS[1])]
    panels = [
        Panel(errors, "error of the threshold (RMSE)", (0, None)),
        Panel([of("coverage")], "coverage of 95%", rules=[0.95]),
        Panel([of("bits")], "bits per question", rules=[0]),
    ]
    return replace(
        curves(panels, "answers", zero=False, inch=1.8),
        title="Placing a new respondent from few answers",
        caption="Root mean squared error of the threshold against that of all answers; how many of the 95% intervals "
        "hold it; bits per question not asked, over knowing the respondent's yes rate over all of its answers. Bands: "
        "95% over base models.",
    )


def placed(
    panel: "ResponseMatrix", answers: "pd.Series | None", model: "OpenModel | None", options: PlaceOptions
) -> Found:
    """Where the respondent stands, what it will say to the rest, and what to ask it next."""
    from onedial.scale.place.question_bank import QuestionBank, kin_of

    bank = QuestionBank.of(panel, kin_of(panel.respondents))
    say(
        f"{len(bank.respondents)} respondents placed {len(bank.questions)} questions; of one like them is expected: "
        f"threshold {bank.prior.threshold:.2f} (standard deviation {bank.prior.threshold_sd:.2f}), loading "
        f"{bank.prior.loading:.2f}"
    )
    placement, asked = bank.place({}), {}
    askable = questions_with_texts(panel, bank)
    if model is not None:
        placement, asked["answers"] = ask(model, panel, placement, askable, options)
    elif answers is not None:
        unread = answers.index[answers.isna()]
        placement = bank.place(answers[answers.index.isin(bank.questions)])
        say(f"{len(placement.asked)} answers, {len(unread)} blank")
    following = placement.next_questions(options.next, options.seed, among=askable)
    predicted = placement.predicted()
    further = {"next": next_questions_table(following, predicted, panel)}
    if not len(placement.asked):
        return Found([f"{len(following)} questions tell most of where it stands: next.csv"], further | asked, {})
    steps = placement.steps().set_index("n_answers")
    tables = {"steps": steps, "predictions": predicted.to_frame()} | further | asked
    return Found(sentences_of(placement), tables, {"threshold": threshold_by_answers(steps)})


def threshold_by_answers(steps: "pd.DataFrame") -> "Drawing":
    """The threshold with its interval after each answer."""
    from dataclasses import replace

    from onedial.show.plots import Curve, Panel, curves

    line = Curve(steps.index, steps["threshold"], low=steps["low"], high=steps["high"], look={"marker": "o"})
    return replace(
        curves([Panel([line], "threshold (higher = more often yes)")], "answers", zero=False, inch=2.9),
        title="Where it stands, answer by answer",
        caption="Threshold on the panel's scale after each answer, with the 95% interval of what all of its answers "
        "would show; at 0 answers, what the panel's respondents lead one to expect.",
    )


def questions_with_texts(panel: "ResponseMatrix", bank: "QuestionBank") -> set[Any]:
    """The bank's questions that can be put to somebody; all of them where the panel holds no texts at all."""
    texts = panel.question_texts
    if texts is None:
        return set(bank.questions)
    whole = bank.questions[texts.reindex(bank.questions).notna().to_numpy()]
    if len(whole) < len(bank.questions):
        say(f"{len(bank.questions) - len(whole)} questions without a whole text are not asked")
    return set(whole)


def next_questions_table(questions: list[Any], predicted: "pd.Series", panel: "ResponseMatrix") -> "pd.DataFrame":
    """question_id, with an empty answer to be filled in, the probability of a yes, and the text where it is known."""
    import pandas as pd

    index = pd.Index(questions, name="question_id")
    table = pd.DataFrame({"answer": "", "probability": predicted.reindex(index)}, index=index)
    return table if panel.question_texts is None else table.assign(question=panel.question_texts.reindex(index))


def ask(
    model: "OpenModel", panel: "ResponseMatrix", placement: "Placement", askable: set[Any], options: PlaceOptions
) -> "tuple[Placement, pd.DataFrame]":
    """Ask the model one question after the other, each chosen after the answers before it."""
    from dataclasses import replace

    import pandas as pd

    from onedial.asking.instruments import CAN_YOU_ANSWER
    from onedial.asking.measuring import measurement_row
    from onedial.asking.prompts import load_prompt
    from onedial.core.progress import progress_bar
    from onedial.models.respondent import LocalRespondent

    texts = panel.question_texts
    if texts is None:
        texts = pd.Series(
            {question.id: question.rendered for question in options.read_questions(options.questions or "embedded")}
        )
        askable = askable & set(texts.index)
    if not askable:
        raise InputError("no text is known of the panel's questions; give them with --questions, by the panel's ids")
    template = load_prompt(prompt_of(options.model, options.panel, options.prompt))
    if panel.elicitation is not None and (differences := panel.elicitation.otherwise(template.user)):
        notice(f"asked otherwise: {'; '.join(differences)}")
    instrument = replace(CAN_YOU_ANSWER, template=template)
    respondent, rows = LocalRespondent(model), []
    with progress_bar(options.next, "asking") as advance:
        for _ in range(options.next):
            following = placement.next_questions(1, options.seed, among=askable)
            if not following:
                break
            (question,) = following
            askable = askable - {question}
            (response,) = respondent.answer([instrument.prompt(texts[question])], instrument)
            names = (model.identity.name, respondent.identity, instrument.name, template.name)
            rows.append(measurement_row(*names, question, response))
            if response.said_yes is not None:
                placement = placement.after(question, response.said_yes)
            advance(1)
    say(f"{len(rows)} questions asked, {len(rows) - len(placement.asked)} answers unread")
    return placement, pd.DataFrame(rows).set_index("question_id")


def sentences_of(placement: "Placement") -> list[str]:
    """Threshold, yes rate and loading; where the answers do not show that it follows the scale, that too."""
    low, high = placement.interval
    loading, least, most = placement.loading
    sentences = [
        f"Threshold {placement.threshold:.2f} (95% interval {low:.2f} to {high:.2f}): it is expected to say yes to "
        f"{placement.yes_rate:.1%} of the panel's questions",
        f"loading {loading:.2f} ({least:.2f} to {most:.2f})",
    ]
    if len(placement.asked) >= FEWEST_TO_JUDGE and not placement.follows:
        sentences.append(
            "these answers do not show that it follows the panel's scale; if it does not, the interval is too narrow: "
            "more answers tell"
        )
    return sentences


main = program(PlaceOptions, place, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
