"""Models asked about themselves in every way, each beside its null, and what moves when a dial is turned.

    onedial ask battery --model MODEL,MODEL --n-questions 120
    onedial ask questionnaire --model MODEL
    onedial ask self-prediction --model A1,A2,A3,B1,B2,B3 --families families.csv
    onedial ask written --model MODEL
    onedial profile runs/MY-SWEEP
    onedial ask noticing --model MODEL

Each word has a --help of its own (docs/instruments.md says what answers which question). A run that is broken off goes
on with --resume and the same options; --dry-run says beforehand what would be asked, and --model recorded:PATH scores
answers that are there.
"""

import sys
from inspect import getdoc

from onedial.core.command_line import run_command
from onedial.core.run.notes import Notes, program, programs
from onedial.studies.options.asked import (
    BatteryOptions,
    QuestionnaireOptions,
    ScoreOptions,
    SelfPredictionOptions,
    WrittenOptions,
)
from onedial.studies.options.noticing import NoticingOptions
from onedial.studies.options.profile import ProfileOptions


def battery(options: BatteryOptions, notes: Notes) -> None:
    """Ask in every way: choices, pairs, guesses, pressure, second looks, predictions, steps, beliefs, hedges, debates.

        onedial ask battery                                                # embedded model, every test, 40 questions
        onedial ask battery --model MODEL,MODEL,MODEL --n-questions 120
        onedial ask battery --instruments pairs,pressure --n-questions 16  # a quick look
        onedial ask battery --vector FILE --magnitudes=-0.1,0,0.1          # a steered subject, per setting

    Each respondent (a model, or a subject at a setting of its dial) is put through each test. Writes answers.jsonl
    (every single answer, with what was asked), answers/TEST/ (a row for each question), TEST.csv (its scores),
    overview.csv (what each says first), figures and report.html. What cannot be read in more than half of the
    answers gets no number.
    """
    from onedial.studies.battery.battery import ask_battery

    ask_battery("ask_battery", options, notes)


def questionnaire(options: QuestionnaireOptions, notes: Notes) -> None:
    """How sure are models of themselves, is that one scale, does it stay, and does it go with what they can do?

        onedial ask questionnaire                                        # embedded model, IPIP self-efficacy
        onedial ask questionnaire --model MODEL,MODEL --questionnaire my_scale.csv
        onedial ask questionnaire --administrations 2 --follow-ups none  # a quick look

    Ten statements on a scale of four, in shuffled orders, under four conditions (no task, computation, social
    reasoning, summarising), one by one in a conversation and all at once, and once more after a neutral, a doubting
    and an encouraging sentence; then why, in its own words; then the tasks themselves, graded. Writes ratings.csv,
    explanations.csv and tasks.csv (every answer), scores.csv, coherence.csv (alpha over three models or more),
    revisions.csv, conditions.csv (mixed model), accuracy.csv (and, of local models, perplexity), wording.csv
    (assertive, cautious, anthropomorphic, disclaiming), beside_study.csv (what the self-efficacy study found), and
    report.html with answers to look through. A scale of your own is a CSV file with the columns text (shown as it
    stands) and keyed (1, -1).
    """
    from onedial.studies.battery.questionnaire import ask_questionnaire

    ask_questionnaire("ask_questionnaire", options, notes)


def predict(options: SelfPredictionOptions, notes: Notes) -> None:
    """Ask models what they would answer, and then let them answer: the Self-Execution study's tests asked anew.

        onedial ask self-prediction --out asked  # embedded model; a few minutes on a CPU
        onedial ask self-prediction --model MODEL,MODEL,MODEL --n-questions 120 --out asked
        onedial ask self-prediction --model A1,A2,A3,B1,B2,B3 --families families.csv
        onedial ask self-prediction --model MODEL,OTHER --n-questions 120 --tuned  # needs peft

    Writes association.csv, restriction.csv and difficulty.csv, every answer with its text into answers.jsonl, and what
    they say: scores_TEST.csv with the published metrics, cross_TEST.csv and matrix_TEST.csv (who predicts whom),
    means.csv, a figure and report.html with answers to look through. --tuned teaches every model half of every
    model's lists and sets what it predicts of the others beside what that model itself does (tuned.csv). Words are
    our own list of 120 with four options each; requests are those of `--panel frontier`; questions the embedded
    ones.
    """
    from onedial.studies.battery.predict import ask_self_prediction

    ask_self_prediction("ask_self_prediction", options, notes)


def score(options: ScoreOptions, notes: Notes) -> None:
    """Can models say what they would answer, and better than others can say it? The Self-Execution study's scores.

        onedial score self-prediction tests/reference/self_execution  # the study's own raw answers
        onedial score self-prediction MY-FOLDER --out scores

    FOLDER holds one table or more (.csv or .csv.gz): association (model, word, option, predicted, listed),
    restriction (model, prompt_id, predicted, perceived, and behaved where it is known), difficulty (model,
    group_id, question_id, correct, tokens, predicted_rank, and measured_rank and ranking_tokens where they are
    known), and, if wanted, benchmarks (model, benchmark, score; they give rasch.csv, abilities) and families
    (model, family). Writes TEST.csv with the published metrics, what the majority class scores, and intervals;
    beside_study.csv, what the study published; cross_TEST.csv and matrix_TEST.csv, who predicts whom; means.csv and
    correlations.csv of the three tests; figures; and report.html, with answers to look through. Needs no model and
    no GPU.
    """
    from onedial.studies.battery.predict import score_folder

    score_folder("score_self_prediction", options, notes)


def written(options: WrittenOptions, notes: Notes) -> None:
    """What tells right answers from wrong ones: token probabilities, agreement of samples, or what is said when asked?

        onedial ask written  # embedded model, 200 questions, 5 samples
        onedial ask written --model MODEL,MODEL --n-questions 533 --samples 10
        onedial ask written --n-questions 40 --samples 2 --instruments none  # a quick look
        onedial ask written --same-meaning JUDGE                             # samples are also compared by meaning

    Lets each model answer, reads the token probabilities of every answer in one forward (and once each without the
    question, and with the answer shown), draws further samples, and asks for confidence. Writes answers.jsonl (all of
    it), written.csv, tokens.parquet, signals.csv (AUROC of each score for being right, with intervals over topics),
    votes.csv, a figure, and report.html with answers to look through. Local models only.
    """
    from onedial.studies.written.written_study import score_written

    score_written("score_written", options, notes)


def profile(options: ProfileOptions, notes: Notes) -> None:
    """What moves together with the yes when the dial is turned: confidence, P(True), refusals, self-efficacy, any yes?

        onedial profile runs/MY-SWEEP  # vector, prompt, settings of a sweep
        onedial profile runs/MY-SWEEP --n-questions 16 --controls 3 --no-answers  # a quick look
        onedial profile runs/MY-SWEEP --yes-rates .2,.8 --instruments "can you answer,P(True)"
        onedial profile --model MODEL --vector FILE --magnitudes=-0.2,0.2

    Puts every instrument to the subject at every setting, beside random directions of the vector's length at the
    same layer and magnitudes. Writes answers/ (every score), written/ (its answers to the questions themselves),
    cells.csv, reports.csv, truths.csv, accuracy.csv, a figure and report.html.
    """
    from onedial.studies.profile import profile_dial

    profile_dial("dial_profile", options, notes)


def noticing(options: NoticingOptions, notes: Notes) -> None:
    """Was I steered? Is an injected direction noticed, or only the yes raised?

        onedial ask noticing  # embedded model, forty concepts
        onedial ask noticing --model MODEL --layer 14 --magnitudes .5,1,2

    Concepts' directions are injected one at a time, and the subject is asked whether it notices, and which word it is:
    beside no push, random directions of the same length and of the same effect on neutral text, questions whose right
    answer is no, and the reversed wording. Writes answers.csv, scores.csv, a figure and report.html.
    """
    from onedial.studies.noticing import ask_noticing

    ask_noticing("noticing", options, notes)


main = programs(
    {
        "battery": program(BatteryOptions, battery, getdoc(battery)),
        "questionnaire": program(QuestionnaireOptions, questionnaire, getdoc(questionnaire)),
        "predict": program(SelfPredictionOptions, predict, getdoc(predict)),
        "written": program(WrittenOptions, written, getdoc(written)),
        "profile": program(ProfileOptions, profile, getdoc(profile)),
        "noticing": program(NoticingOptions, noticing, getdoc(noticing)),
        "score": program(ScoreOptions, score, getdoc(score)),
    },
    __doc__,
)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
