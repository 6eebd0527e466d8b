"""A questionnaire put to one model after another: ratings, explanations and tasks, and what they say."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.measuring import ask_table
from onedial.asking.respondents import Respondent
from onedial.asking.store import Store
from onedial.confidence.tokens import token_scores
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.models.respondent import LocalRespondent
from onedial.models.written_scores import read_written
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.grading.grading import outcome_as_number
from onedial.selfreport.ask.questionnaires import (
    FOLLOW_UPS,
    NO_TASK,
    PRESENTATIONS,
    RATING_COLUMNS,
    Questionnaire,
    administer,
    conditions,
    efficacy_tasks,
    explain,
    load_questionnaire,
)
from onedial.selfreport.frame import Make
from onedial.selfreport.score.published import beside_self_efficacy
from onedial.selfreport.score.questionnaires import (
    balanced_mean,
    cronbach_alpha,
    identical_share,
    intraclass_correlation,
    rating_model,
    revisions,
)
from onedial.selfreport.score.reply_screening import screen_replies, screening_sentences
from onedial.selfreport.score.wording import code_wording, wording_scores
from onedial.selfreport.show.self_report_page import AnswerLog, write_self_report_page
from onedial.show.columns import number
from onedial.show.progress import progress_bar
from onedial.show.results import save_results
from onedial.studies.battery.everybody import ask_everybody
from onedial.studies.options.asked import QuestionnaireOptions

FEWEST_MODELS = 3
RATINGS = (
    ["model", *RATING_COLUMNS],
    ["model", "condition", "administration", "presentation", "follow_up", "item"],
)
EXPLANATIONS = (["model", "condition", "administration", "text"], ["model", "condition", "administration"])
TASKS = (["model", "condition", "task", "level", "correct", "log_p", "text"], ["model", "task"])
"""log_p: mean log-probability of the answer's tokens, in nats; of local models alone."""


def ask_questionnaire(program: str, options: QuestionnaireOptions, notes: Notes) -> None:
    """A questionnaire put to everybody, and scored."""
    questionnaire = load_questionnaire(options.questionnaire)
    follow_ups = tuple(FOLLOW_UPS) if options.follow_ups == "all" else ()

    found: dict[str, list[pd.DataFrame]] = {"ratings": [], "explanations": [], "tasks": []}

    def ask(run: Run, bill: Store, name: str, make: Make) -> None:
        ask_model(run, bill, name, make, questionnaire, follow_ups, options, found)

    def end(run: Run) -> None:
        ratings, explanations, tasks = (
            whole(found[name], *columns)
            for name, columns in (("ratings", RATINGS), ("explanations", EXPLANATIONS), ("tasks", TASKS))
        )
        finish(run, ratings, explanations, tasks, questionnaire, options)

    ask_everybody(program, "questionnaire", options, notes, [ask], end)


def whole(tables: Sequence[pd.DataFrame], columns: Sequence[str], key: Sequence[str]) -> pd.DataFrame:
    """Every model's rows, in the order of their key."""
    return pd.concat(tables, ignore_index=True)[[*columns]].sort_values([*key], kind="stable", ignore_index=True)


def ask_model(
    run: Run,
    bill: Store,
    name: str,
    make: Make,
    questionnaire: Questionnaire,
    follow_ups: Sequence[str],
    options: QuestionnaireOptions,
    found: Mapping[str, list[pd.DataFrame]],
) -> None:
    """Ask one model what it has not been asked yet, and add what its answers come to."""
    respondent = make(0)
    passes = [
        (condition, administration, presentation)
        for condition in conditions()
        for administration in range(options.administrations)
        for presentation in PRESENTATIONS
    ]
    ratings = []
    with progress_bar(len(passes), name) as advance:
        for each in passes:
            with bill.occasion(", ".join(map(str, each))):
                ratings.append(administer(respondent, questionnaire, *each, follow_ups, options.seed))
                bill.tell_failed(name)
            advance(1)
    found["ratings"].append(pd.concat(ratings, ignore_index=True).assign(model=name))
    listed = found["ratings"][-1]
    listed = listed[listed["presentation"] == "all at once"]
    said = listed.drop_duplicates(["condition", "administration"])[["condition", "administration", "text"]]
    with bill.occasion("explanations"):
        texts = [
            explain(respondent, questionnaire, condition, int(administration), text, options.seed)
            for condition, administration, text in said.itertuples(index=False)
        ]
        bill.tell_failed(name)
    found["explanations"].append(said.assign(model=name, text=texts))
    with bill.occasion("tasks"):
        graded = [_tasks_of(respondent, condition) for condition in efficacy_tasks()]
        bill.tell_failed(name)
    found["tasks"].append(pd.concat(graded, ignore_index=True).assign(model=name))


def _tasks_of(respondent: Respondent, condition: str) -> pd.DataFrame:
    """The tasks of a condition, answered and graded; of a model on this machine, with how sure its tokens were."""
    own = efficacy_tasks()[condition]
    texts = ask_table(respondent, CLOSED_BOOK, [{"question": task.text} for task in own])["text"].tolist()
    log_p = [float("nan")] * len(own)
    if isinstance(model := getattr(respondent, "respondent", None), LocalRespondent):
        found = read_written(model.model, [CLOSED_BOOK.prompt(task.text) for task in own], texts)
        log_p = [token_scores(each.statistics)["mean log-probability"] for each in found]
    right = [outcome_as_number(grade_answer(task, text).outcome) for task, text in zip(own, texts, strict=True)]
    about = {"condition": condition, "task": [task.id for task in own], "level": [task.level for task in own]}
    return pd.DataFrame({**about, "correct": right, "log_p": log_p, "text": texts})


def finish(
    run: Run,
    ratings: pd.DataFrame,
    explanations: pd.DataFrame,
    tasks: pd.DataFrame,
    questionnaire: Questionnaire,
    options: QuestionnaireOptions,
) -> None:
    """Scores, stability, revision, conditions, and accuracy beside them."""
    signs = {item.item_id: item.sign for item in questionnaire.items}
    ratings = ratings.assign(reversed=ratings["item"].map(signs) < 0)
    one_by_one = ratings[ratings["presentation"] == "one by one"]
    scores, coherence = scores_of(ratings), coherence_of(ratings)
    tables: dict[str, pd.DataFrame] = {
        "scores": scores.set_index(["model", "condition", "presentation"]),
        "coherence": coherence.set_index(["condition", "presentation"]),
        "conditions": rating_model(one_by_one[one_by_one["follow_up"] == ""], NO_TASK),
    }
    if (ratings["follow_up"] != "").any():
        revised = {
            model: revisions(own, options.replicates, options.seed)
            for model, own in one_by_one.groupby("model", sort=False)
        }
        tables["revisions"] = pd.concat(revised, names=["model"])
    grouped = tasks.groupby(["model", "condition"], sort=False)
    accuracy = grouped["correct"].agg(right="mean", n="count", asked="size")
    accuracy["perplexity"] = np.exp(-grouped["log_p"].mean())
    levels = scores[scores["presentation"] == "one by one"].set_index(["model", "condition"])["mean"]
    tables["accuracy"] = both = accuracy.join(levels.rename("score"))
    tables["wording"] = wording_scores(explanations)
    tables["beside_study"] = beside_self_efficacy(
        scores, coherence, both, tables.get("revisions"), len(questionnaire.items)
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
    coded = explanations.join(pd.DataFrame([code_wording(text) for text in explanations["text"]]))
    answers = {"ratings": ratings.drop(columns="reversed"), "explanations": coded, "tasks": tasks}
    for name, table in answers.items():
        run.write_table(f"{name}.csv", table)
    logs = {name: AnswerLog(table, f"{name}.csv") for name, table in answers.items()}
    report = write_self_report_page(run, "How sure is it of itself, and does that stay?", sentences, tables, logs)
    print(f"\nreport: {report}")


def level_sentences(scores: pd.DataFrame) -> list[str]:
    """Of each model, its level without a task, and how stable that is."""
    plain = scores[(scores["condition"] == NO_TASK) & (scores["presentation"] == "one by one")]
    return [
        f"{row['model']} rates itself {number(row['mean'], 2)} of 4 (2.5 = no leaning), ICC {number(row['icc_a1'], 2)} "
        f"({number(row['icc_low'], 2)} to {number(row['icc_high'], 2)}) over administrations; {row['n_unread']} of "
        f"{row['n']} ratings unread"
        for row in plain.to_dict("records")
    ]


def ability_sentence(both: pd.DataFrame, column: str, words: str) -> str:
    """Whether the score goes with what the model does in the tasks, a column of `both`."""
    known = both[["score", column]].dropna()
    if len(known) <= FEWEST_MODELS or (known.nunique() == 1).any():
        return f"no rank correlation of score and {words}: too few pairs of model and condition that differ in both"
    found = spearmanr(known["score"], known[column])
    return (
        f"rank correlation of score and {words} over {len(known)} pairs of model and condition: "
        f"{found.statistic:.2f} (p = {found.pvalue:.2g}); conditions of one model are not independent"
    )


def scores_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """Mean and stability for each model, condition and presentation, with what could not be read."""
    rows = []
    first = ratings[ratings["follow_up"] == ""]
    keys = ["model", "condition", "presentation"]
    for key, own in first.groupby(keys, sort=False):
        table = own.pivot(index="item", columns="administration", values="said")
        icc = intraclass_correlation(table)
        share, n_items = identical_share(table)
        n_unread = int(own["said"].isna().sum())
        is_read = n_unread <= len(own) / 2
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
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


def coherence_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """Alpha over models, each one's mean over its administrations a person; blank under three models."""
    rows = []
    first = ratings[ratings["follow_up"] == ""]
    for (condition, presentation), own in first.groupby(["condition", "presentation"], sort=False):
        table = own.pivot_table(index="model", columns="item", values="rating", dropna=False)
        n_models = int(table.notna().all(axis=1).sum())
        alpha = cronbach_alpha(table) if n_models >= FEWEST_MODELS else float("nan")
        rows.append({"condition": condition, "presentation": presentation, "n_models": n_models, "alpha": alpha})
    return pd.DataFrame(rows)
