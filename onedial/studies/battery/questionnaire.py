"""Put a questionnaire to one model after another: ratings, explanations and tasks, and what they say."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.measuring import ask_table
from onedial.asking.respondents import Respondent
from onedial.asking.store import Store
from onedial.confidence.tokens import token_scores
from onedial.core.progress import progress_bar
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
from onedial.selfreport.battery.reply_screening import screen_replies, screening_sentences
from onedial.selfreport.frame import Make
from onedial.selfreport.per_respondent import per_respondent
from onedial.selfreport.score.published import beside_self_efficacy
from onedial.selfreport.score.questionnaires import (
    balanced_mean,
    cronbach_alpha,
    identical_share,
    intraclass_correlation,
    rating_model,
    revisions,
)
from onedial.selfreport.score.wording import code_wording, wording_scores
from onedial.selfreport.show.self_report_page import AnswerLog, end_self_report
from onedial.show.columns import number
from onedial.studies.battery.everybody import ask_everybody
from onedial.studies.options.asked import QuestionnaireOptions

FEWEST_MODELS = 3
COLUMNS = {
    "ratings": ["model", *RATING_COLUMNS],
    "explanations": ["model", "condition", "administration", "text"],
    "tasks": ["model", "condition", "task", "level", "correct", "log_p", "text"],
}
"""log_p: mean log-probability of the answer's tokens, in nats; of local models alone."""
KEYS = {
    "ratings": ["model", "condition", "administration", "presentation", "follow_up", "item"],
    "explanations": ["model", "condition", "administration"],
    "tasks": ["model", "task"],
}
Found = Mapping[str, list[pd.DataFrame]]


def ask_questionnaire(program: str, options: QuestionnaireOptions, notes: Notes) -> None:
    """Put a questionnaire to everybody, and score it."""
    questionnaire = load_questionnaire(options.questionnaire)
    collected: Found = {name: [] for name in COLUMNS}

    def ask(run: Run, store: Store, name: str, make: Make) -> None:
        ask_model(store, name, make(0), questionnaire, options, collected)

    def scored(run: Run, store: Store) -> None:
        answers = {
            name: pd.concat(tables, ignore_index=True)[COLUMNS[name]].sort_values(KEYS[name], kind="stable")
            for name, tables in collected.items()
        }
        finish(run, {name: table.reset_index(drop=True) for name, table in answers.items()}, questionnaire, options)

    ask_everybody(program, "questionnaire", options, notes, [ask], scored)


def ask_model(
    store: Store,
    name: str,
    respondent: Respondent,
    questionnaire: Questionnaire,
    options: QuestionnaireOptions,
    collected: Found,
) -> None:
    """Put all of it to one model, and add what its answers come to."""
    follow_ups = tuple(FOLLOW_UPS) if options.follow_ups == "all" else ()
    passes = [
        (condition, administration, presentation)
        for condition in conditions()
        for administration in range(options.administrations)
        for presentation in PRESENTATIONS
    ]
    tables = []
    with progress_bar(len(passes), name) as advance:
        for each in passes:
            with store.occasion(", ".join(map(str, each))):
                tables.append(administer(respondent, questionnaire, *each, follow_ups, options.seed))
                store.tell_failed(name)
            advance(1)
    ratings = pd.concat(tables, ignore_index=True)
    texts_given = ratings[ratings["presentation"] == "all at once"].drop_duplicates(["condition", "administration"])
    texts_given = texts_given[["condition", "administration", "text"]]
    with store.occasion("explanations"):
        texts = [
            explain(respondent, questionnaire, condition, int(administration), text, options.seed)
            for condition, administration, text in texts_given.itertuples(index=False)
        ]
        store.tell_failed(name)
    with store.occasion("tasks"):
        tasks = pd.concat([_tasks_of(respondent, condition) for condition in efficacy_tasks()], ignore_index=True)
        store.tell_failed(name)
    for kind, table in (("ratings", ratings), ("explanations", texts_given.assign(text=texts)), ("tasks", tasks)):
        collected[kind].append(table.assign(model=name))


def _tasks_of(respondent: Respondent, condition: str) -> pd.DataFrame:
    """Ask and grade the tasks of a condition; of a model on this machine, with how sure its tokens were."""
    tasks = efficacy_tasks()[condition]
    texts = ask_table(respondent, CLOSED_BOOK, [{"question": task.rendered} for task in tasks])["text"].tolist()
    log_p = [float("nan")] * len(tasks)
    if isinstance(model := getattr(respondent, "respondent", None), LocalRespondent):
        written = read_written(model.model, [CLOSED_BOOK.prompt(task.rendered) for task in tasks], texts)
        log_p = [token_scores(each.statistics)["mean log-probability"] for each in written]
    right = [outcome_as_number(grade_answer(task, text).outcome) for task, text in zip(tasks, texts, strict=True)]
    about = {"condition": condition, "task": [task.id for task in tasks], "level": [task.level for task in tasks]}
    return pd.DataFrame({**about, "correct": right, "log_p": log_p, "text": texts})


def finish(
    run: Run, answers: dict[str, pd.DataFrame], questionnaire: Questionnaire, options: QuestionnaireOptions
) -> None:
    """Scores, stability, revision, conditions, and accuracy beside them."""
    signs = {item.item_id: item.sign for item in questionnaire.items}
    ratings, explanations, tasks = answers.values()
    keyed = ratings.assign(reversed=ratings["item"].map(signs) < 0)
    one_by_one = keyed[keyed["presentation"] == "one by one"]
    scores, coherence = scores_of(keyed), coherence_of(keyed)
    tables: dict[str, pd.DataFrame] = {
        "scores": scores.set_index(["model", "condition", "presentation"]),
        "coherence": coherence.set_index(["condition", "presentation"]),
        "conditions": rating_model(one_by_one[one_by_one["follow_up"] == ""], NO_TASK),
    }
    if (keyed["follow_up"] != "").any():
        tables["revisions"] = per_respondent(
            one_by_one, lambda of_model: revisions(of_model, options.replicates, options.seed), "model"
        )
    grouped = tasks.groupby(["model", "condition"], sort=False)
    accuracy = grouped["correct"].agg(right="mean", n="count", asked="size")
    accuracy["perplexity"] = np.exp(-grouped["log_p"].mean())
    levels = scores[scores["presentation"] == "one by one"].set_index(["model", "condition"])["mean"]
    tables["accuracy"] = both = accuracy.join(levels.rename("score"))
    tables["wording"] = wording_scores(explanations)
    n_items = len(questionnaire.items)
    tables["beside_study"] = beside_self_efficacy(scores, coherence, both, tables.get("revisions"), n_items)
    screening = screen_replies({"questionnaire": ratings.rename(columns={"model": "respondent"})})
    sentences = [
        *level_sentences(scores),
        *screening_sentences(screening),
        ability_sentence(both, "right", "share right"),
        ability_sentence(both, "perplexity", "perplexity of the answers"),
    ]
    coded = pd.DataFrame([code_wording(text) for text in explanations["text"]])
    answers["explanations"] = explanations.join(coded)
    for name, table in answers.items():
        run.write_table(f"{name}.csv", table)
    logs = {name: AnswerLog(table, f"{name}.csv") for name, table in answers.items()}
    end_self_report(run, "How sure is it of itself, and does that stay?", sentences, tables, logs)


def level_sentences(scores: pd.DataFrame) -> list[str]:
    """Say of each model its level without a task, and how stable that is."""
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
    correlation = spearmanr(known["score"], known[column])
    return (
        f"rank correlation of score and {words} over {len(known)} pairs of model and condition: "
        f"{correlation.statistic:.2f} (p = {correlation.pvalue:.2g}); conditions of one model are not independent"
    )


def scores_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """Compute mean and stability for each model, condition and presentation, with what could not be read."""
    rows = []
    keys = ["model", "condition", "presentation"]
    for key, of_one in ratings[ratings["follow_up"] == ""].groupby(keys, sort=False):
        table = of_one.pivot(index="item", columns="administration", values="said")
        icc, (share, n_items) = intraclass_correlation(table), identical_share(table)
        n_unread = int(of_one["said"].isna().sum())
        row = {**dict(zip(keys, key, strict=True)), "n": len(of_one), "n_unread": n_unread}
        levels = {
            "mean": balanced_mean(of_one),
            "expected": balanced_mean(of_one, "expected"),
            "commonest": of_one["said"].value_counts(normalize=True).max(),
        }
        row |= levels if n_unread <= len(of_one) / 2 else dict.fromkeys(levels, float("nan"))
        row |= {"icc_a1": icc.single, "icc_low": icc.single_low, "icc_high": icc.single_high, "icc_ak": icc.average}
        rows.append(row | {"identical": share, "items_read": n_items})
    return pd.DataFrame(rows)


def coherence_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """Alpha over models, each one's mean over its administrations a person; blank under three models."""
    rows = []
    first = ratings[ratings["follow_up"] == ""]
    for (condition, presentation), of_condition in first.groupby(["condition", "presentation"], sort=False):
        table = of_condition.pivot_table(index="model", columns="item", values="rating", dropna=False)
        n_models = int(table.notna().all(axis=1).sum())
        alpha = cronbach_alpha(table) if n_models >= FEWEST_MODELS else float("nan")
        rows.append({"condition": condition, "presentation": presentation, "n_models": n_models, "alpha": alpha})
    return pd.DataFrame(rows)
