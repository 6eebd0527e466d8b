"""How sure are models of themselves, is that one scale, does it stay, and does it go with what they can do?

    python experiments/ask_questionnaire.py                                        # embedded model, IPIP self-efficacy
    python experiments/ask_questionnaire.py --model MODEL,MODEL --questionnaire my_scale.csv
    python experiments/ask_questionnaire.py --administrations 2 --follow-ups none  # a quick look

Ten statements on a scale of four, in shuffled orders, under four conditions (no task, computation, social reasoning,
summarising), one by one in a conversation and all at once, and once more after a neutral, a doubting and an
encouraging sentence; then why, in its own words; then the tasks themselves, graded. Writes ratings/, explanations/ and
tasks/ (every answer), scores.csv, coherence.csv (alpha over three models or more), revisions.csv, conditions.csv
(mixed model), accuracy.csv (and, of local models, perplexity), wording.csv (assertive, cautious, anthropomorphic,
disclaiming), beside_study.csv (what the self-efficacy study found), and report.html with answers to look through. A
scale of your own is a CSV file with the columns text (shown as it stands) and keyed (1, -1). An interrupted run
continues with --resume and the same options.
"""

import sys
from itertools import chain
from typing import TYPE_CHECKING

from onedial.core import Notes, Run, program, run_command
from onedial.studies import Start, bill_of, tell_costs
from onedial.studies.options import QuestionnaireOptions

if TYPE_CHECKING:
    import pandas as pd

    from onedial.asking.store import Store
    from onedial.selfreport import Questionnaire

PROGRAM = "ask_questionnaire"
FEWEST_MODELS = 3
EXPLANATIONS = ["model", "condition", "administration", "text"]
TASKS = ["model", "condition", "task", "level", "correct", "log_p", "text"]
"""log_p: mean log-probability of the answer's tokens, in nats; of local models alone."""
KEY = ["model", "condition", "administration", "presentation", "follow_up", "item"]


def ask_questionnaire(options: QuestionnaireOptions, notes: Notes) -> None:
    from onedial.selfreport import FOLLOW_UPS, load_questionnaire

    questionnaire = load_questionnaire(options.questionnaire)
    follow_ups = tuple(FOLLOW_UPS) if options.follow_ups == "all" else ()
    models = options.model
    start = Start(PROGRAM, options, "questionnaire")
    from onedial.studies.battery import models_elsewhere, respondents_of

    bill = bill_of(options, models, models_elsewhere(models))
    start.set_threads()
    subjects = respondents_of(models, bill)
    first = next(subjects)  # at once, so that a wrong name leaves no folder behind
    with start.begin(notes) as run:
        bill.opens(run.file("answers.jsonl"))
        for name, make in chain([first], subjects):
            with run.stage(name):
                ask_model(run, bill, name, make(0), questionnaire, follow_ups, options)
        finish(run, questionnaire, options)
        tell_costs(bill.costs(), run)


def ask_model(
    run: Run,
    bill: "Store",
    name: str,
    respondent: object,
    questionnaire: object,
    follow_ups: tuple[str, ...],
    options: QuestionnaireOptions,
) -> None:
    """Ask what is not on disk yet, administration by administration."""
    import pandas as pd

    from onedial.asking import CLOSED_BOOK, Respondent, answers_in_order
    from onedial.confidence import token_scores
    from onedial.models import LocalRespondent, read_written
    from onedial.panels import grade_answer, outcome_as_number
    from onedial.selfreport import (
        PRESENTATIONS,
        RATING_COLUMNS,
        Questionnaire,
        administer,
        conditions,
        efficacy_tasks,
        explain,
    )
    from onedial.show import progress_bar

    assert isinstance(respondent, Respondent)
    assert isinstance(questionnaire, Questionnaire)
    parts = run.parts("ratings", ["model", *RATING_COLUMNS], KEY)
    done = {key[:4] for key in parts.done_keys()}
    passes = [
        (condition, number, presentation)
        for condition in conditions()
        for number in range(options.administrations)
        for presentation in PRESENTATIONS
    ]
    with progress_bar(len(passes), name) as advance:
        for condition, number, presentation in passes:
            if (name, condition, number, presentation) not in done:
                with bill.occasion(f"{condition}, {number}, {presentation}"):
                    rows = administer(
                        respondent, questionnaire, condition, number, presentation, follow_ups, options.seed
                    )
                    bill.keep(parts, rows.assign(model=name), name)
            advance(1)
    explained = run.parts("explanations", EXPLANATIONS, EXPLANATIONS[:3])
    if name not in explained.done("model"):
        ratings = parts.read()
        listed = ratings[(ratings["model"] == name) & (ratings["presentation"] == "all at once")]
        said = listed.drop_duplicates(["condition", "administration"])[["condition", "administration", "text"]]
        with bill.occasion("explanations"):
            texts = [
                explain(respondent, questionnaire, condition, int(number), text, options.seed)
                for condition, number, text in said.itertuples(index=False)
            ]
            bill.keep(explained, said.assign(model=name, text=texts), name)
    tasks = run.parts("tasks", TASKS, ["model", "task"])
    if name not in tasks.done("model"):
        graded: list[list[object]] = []
        for condition, own in efficacy_tasks().items():
            prompts = [CLOSED_BOOK.prompt(task.text) for task in own]
            with bill.occasion("tasks"):
                texts = [answer.raw_text for answer in answers_in_order(respondent, prompts, CLOSED_BOOK)]
            log_p = [float("nan")] * len(own)
            if isinstance(respondent, LocalRespondent):
                found = read_written(respondent.model, prompts, texts)
                log_p = [token_scores(each.statistics)["mean log-probability"] for each in found]
            for task, text, sure in zip(own, texts, log_p, strict=True):
                correct = outcome_as_number(grade_answer(task, text).outcome)
                graded.append([name, condition, task.id, task.level, correct, sure, text])
        with bill.occasion("tasks"):
            bill.keep(tasks, pd.DataFrame(graded, columns=tasks.columns), name)


def finish(run: Run, questionnaire: "Questionnaire", options: QuestionnaireOptions) -> None:
    """Scores, stability, revision, conditions, and accuracy beside them."""
    import numpy as np
    import pandas as pd

    from onedial.selfreport import (
        NO_TASK,
        RATING_COLUMNS,
        AnswerLog,
        beside_self_efficacy,
        code_wording,
        rating_model,
        revisions,
        screen_replies,
        screening_sentences,
        wording_scores,
        write_self_report_page,
    )
    from onedial.show import save_results

    ratings = run.parts("ratings", ["model", *RATING_COLUMNS], KEY).read()
    tasks = run.parts("tasks", TASKS, ["model", "task"]).read()
    signs = {item.item_id: item.sign for item in questionnaire.items}
    ratings = ratings.assign(reversed=ratings["item"].map(signs) < 0)
    scores = scores_of(ratings)
    first = ratings[(ratings["follow_up"] == "") & (ratings["presentation"] == "one by one")]
    coherence = coherence_of(ratings)
    tables: dict[str, pd.DataFrame] = {
        "scores": scores.set_index(["model", "condition", "presentation"]),
        "coherence": coherence.set_index(["condition", "presentation"]),
        "conditions": rating_model(first, NO_TASK),
    }
    if (ratings["follow_up"] != "").any():
        asked = ratings[ratings["presentation"] == "one by one"]
        revised = {
            model: revisions(own, options.replicates, options.seed) for model, own in asked.groupby("model", sort=False)
        }
        tables["revisions"] = pd.concat(revised, names=["model"])
    grouped = tasks.groupby(["model", "condition"], sort=False)
    accuracy = grouped["correct"].agg(right="mean", n="count", asked="size")
    accuracy["perplexity"] = np.exp(-grouped["log_p"].mean())
    both = accuracy.join(
        scores[scores["presentation"] == "one by one"].set_index(["model", "condition"])["mean"].rename("score")
    )
    tables["accuracy"] = both
    explanations = run.parts("explanations", EXPLANATIONS, EXPLANATIONS[:3]).read()
    tables["wording"] = wording_scores(explanations)
    tables["beside_study"] = beside_self_efficacy(
        scores, coherence, tables["accuracy"], tables.get("revisions"), len(questionnaire.items)
    )
    save_results(run, tables, {})
    screening = screen_replies({"questionnaire": ratings.rename(columns={"model": "respondent"})})
    sentences = [
        *level_sentences(scores),
        *screening_sentences(screening),
        ability_sentence(both, "right", "share right"),
        ability_sentence(both, "perplexity", "perplexity of the answers"),
    ]
    for name, table in tables.items():
        print(f"\n{name}\n{table.round(3).to_string()}")
    print("\n" + "\n".join(sentences))
    answers = {
        "ratings": AnswerLog(ratings.drop(columns="reversed"), "ratings/"),
        "explanations": AnswerLog(
            explanations.join(pd.DataFrame([code_wording(text) for text in explanations["text"]])), "explanations/"
        ),
        "tasks": AnswerLog(tasks, "tasks/"),
    }
    report = write_self_report_page(run, "How sure is it of itself, and does that stay?", sentences, tables, answers)
    print(f"\nreport: {report}")


def level_sentences(scores: "pd.DataFrame") -> list[str]:
    """Of each model, its level without a task, and how stable that is."""
    from onedial.selfreport import NO_TASK
    from onedial.show import number

    plain = scores[(scores["condition"] == NO_TASK) & (scores["presentation"] == "one by one")]
    return [
        f"{row['model']} rates itself {number(row['mean'], 2)} of 4 (2.5 = no leaning), ICC {number(row['icc_a1'], 2)} "
        f"({number(row['icc_low'], 2)} to {number(row['icc_high'], 2)}) over administrations; {row['n_unread']} of "
        f"{row['n']} ratings unread"
        for row in plain.to_dict("records")
    ]


def ability_sentence(both: "pd.DataFrame", column: str, words: str) -> str:
    """Whether the score goes with what the model does in the tasks, a column of `both`."""
    known = both[["score", column]].dropna()
    if len(known) <= FEWEST_MODELS or (known.nunique() == 1).any():
        return f"no rank correlation of score and {words}: too few pairs of model and condition that differ in both"
    from scipy.stats import spearmanr

    found = spearmanr(known["score"], known[column])
    return (
        f"rank correlation of score and {words} over {len(known)} pairs of model and condition: "
        f"{found.statistic:.2f} (p = {found.pvalue:.2g}); conditions of one model are not independent"
    )


def scores_of(ratings: "pd.DataFrame") -> "pd.DataFrame":
    """Mean and stability for each model, condition and presentation, with what could not be read."""
    import pandas as pd

    from onedial.selfreport import balanced_mean, identical_share, intraclass_correlation

    rows = []
    first = ratings[ratings["follow_up"] == ""]
    for (model, condition, presentation), own in first.groupby(["model", "condition", "presentation"], sort=False):
        table = own.pivot(index="item", columns="administration", values="said")
        icc = intraclass_correlation(table)
        share, n_items = identical_share(table)
        n_unread = int(own["said"].isna().sum())
        is_read = n_unread <= len(own) / 2
        rows.append(
            {
                "model": model,
                "condition": condition,
                "presentation": presentation,
                "n": len(own),
                "n_unread": n_unread,
                "mean": balanced_mean(own) if is_read else float("nan"),
                "expected": balanced_mean(own, "expected") if is_read else float("nan"),
                "commonest": own["said"].value_counts(normalize=True).max() if is_read else float("nan"),
                "icc_a1": icc.single,
                "icc_low": icc.single_low,
                "icc_high": icc.single_high,
                "icc_ak": icc.average,
                "identical": share,
                "items_read": n_items,
            }
        )
    return pd.DataFrame(rows)


def coherence_of(ratings: "pd.DataFrame") -> "pd.DataFrame":
    """Alpha over models, each one's mean over its administrations a person; blank under three models."""
    import pandas as pd

    from onedial.selfreport import cronbach_alpha

    rows = []
    first = ratings[ratings["follow_up"] == ""]
    for (condition, presentation), own in first.groupby(["condition", "presentation"], sort=False):
        table = own.pivot_table(index="model", columns="item", values="rating", dropna=False)
        n_models = int(table.notna().all(axis=1).sum())
        alpha = cronbach_alpha(table) if n_models >= FEWEST_MODELS else float("nan")
        rows.append({"condition": condition, "presentation": presentation, "n_models": n_models, "alpha": alpha})
    return pd.DataFrame(rows)


main = program(QuestionnaireOptions, ask_questionnaire, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
