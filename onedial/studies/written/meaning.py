"""Judge pair by pair how far samples agree in what they mean.

Answers of equal words mean the same and are not asked about. Of the others every pair of one question is judged, by a
model of natural language inference, or by any respondent, whose answers the run's store keeps. Beside them stand pairs
of known meaning: two accepted answers of one question, and one of them with another question's answer.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd

from onedial.asking.questions import Question
from onedial.asking.respondents import RESPONDENTS, Respondent
from onedial.asking.store import Store
from onedial.confidence.samples import intransitive, meaning_agreement, meaning_clusters
from onedial.core.progress import progress_bar
from onedial.models.checkpoints.weights import resolve_weights
from onedial.models.entailment import EntailmentModel, classifies_texts
from onedial.panels.grading.grading import answer_label
from onedial.selfreport.ask.choices import choice_items
from onedial.selfreport.ask.same_meaning import judged_same
from onedial.stats.shares import wilson_interval
from onedial.studies.battery.recorded import RECORDED
from onedial.studies.battery.respondents import models_elsewhere, respondents_of

AT_ONCE = 64
MOST_PLANTED = 50
PAIR = ["question_id", "one", "other"]
MEANT = [*PAIR, "text", "other_text", "same"]
PLANTED_SAME, PLANTED_OTHER = "planted same ", "planted other "
"""Begin the question_id of pairs that are known to mean the same, and not to."""
MEANING_SURER = {
    "semantic entropy": -1,
    "discrete semantic entropy": -1,
    "largest meaning": 1,
    "means the same as the likeliest": 1,
}
"""Score -> +1 where higher means surer, -1 where lower does."""
Judge = Callable[[Sequence[tuple[str, str, str]]], list[float]]
"""From (question, answer, answer) to 1 where they mean the same, 0 where not, nan where unread."""


def judge_of(name: str, store: Store) -> Judge:
    """Who says whether two answers mean the same.

    Args:
        name: as `--same-meaning` takes it. store: keeps a respondent's answers.

    Raises:
        InputError: no such model.
    """
    if not (name in RESPONDENTS or name.startswith(RECORDED) or models_elsewhere([name])):
        if classifies_texts(name):
            model = EntailmentModel(name)
            return lambda pairs: list(model.same_meaning(*zip(*pairs, strict=True)))
        resolve_weights(name)  # refused before anything is asked; read when it is its turn

    @cache
    def respondent() -> Respondent:
        return next(respondents_of([name], store))[1](0)

    return lambda pairs: judged_same(respondent(), pairs)["same"].tolist()


def judge_meanings(
    judge: Judge,
    name: str,
    store: Store,
    written: pd.DataFrame,
    pool: Sequence[Question],
    seed: int,
) -> pd.DataFrame:
    """Every pair of answers in other words that one model gave to one question, and pairs of known meaning: `MEANT`.

    Args:
        written: of all models: model, question_id, sample, text. pool: questions, of whose accepted answers the pairs
            of known meaning are made, by the seed.
    """
    asked = {each.id: each.rendered for each in pool}
    rows = pd.concat([pairs_to_judge(written, asked), planted_pairs(pool, seed)], ignore_index=True)
    texts = rows["question_id"].str.replace(f"^(?:{PLANTED_SAME}|{PLANTED_OTHER})", "", regex=True).map(asked)
    pairs, same = list(zip(texts, rows["text"], rows["other_text"], strict=True)), []
    with store.occasion("same meaning"), progress_bar(len(rows), f"{name}: pairs of answers") as advance:
        for start in range(0, len(pairs), AT_ONCE):
            same += judge(pairs[start : start + AT_ONCE])
            advance(len(same) - start)
        store.tell_failed(name)
    return rows.assign(same=np.array(same, dtype=float))


def labelled(written: pd.DataFrame, asked: Mapping[str, str]) -> pd.DataFrame:
    """The answers that say something, with their normalised words as `label`, in the order of drawing.

    Args:
        asked: question id -> its text.
    """
    labels = [answer_label(text, asked[key]) or "" for text, key in written[["text", "question_id"]].to_numpy()]
    table = written.assign(label=labels)
    return table[table["label"] != ""].sort_values(["model", "question_id", "sample"])


def pairs_to_judge(written: pd.DataFrame, asked: Mapping[str, str]) -> pd.DataFrame:
    """Pairs of answers in other words, each once: `MEANT` without `same`."""
    table = labelled(written, asked)
    once = table.drop_duplicates(["question_id", "label"])
    shown = {(key, label): text for key, label, text in once[["question_id", "label", "text"]].to_numpy()}
    texts_of = {
        (str(key), one, other): (shown[key, one], shown[key, other])
        for (_, key), of_question in table.groupby(["model", "question_id"], sort=False)
        for one, other in combinations(sorted(set(of_question["label"])), 2)
    }
    return pd.DataFrame([[*key, *texts] for key, texts in texts_of.items()], columns=MEANT[:-1])


def planted_pairs(questions: Sequence[Question], seed: int) -> pd.DataFrame:
    """Pairs of known meaning: `MEANT` without `same`; question_id begins with `PLANTED_SAME` or `PLANTED_OTHER`."""
    rows = []
    distractors = {each.id: each.options[1] for each in choice_items(questions, questions, seed)}
    for each in questions:
        accepted = list({answer_label(text, each.rendered): text for text in reversed(each.answers)}.values())
        pairs = {
            PLANTED_SAME: accepted[:2] if len(accepted) > 1 else [],
            PLANTED_OTHER: [accepted[0], distractors.get(each.id, "")],
        }
        for kind, texts in pairs.items():
            if len(texts) == 2 and all(texts):
                rows.append([f"{kind}{each.id}", *texts, *texts])
    table = pd.DataFrame(rows, columns=MEANT[:-1])
    table = table.iloc[np.random.default_rng(seed).permutation(len(table))]
    return table.groupby(table["question_id"].str.startswith(PLANTED_SAME), sort=False).head(MOST_PLANTED)


def check_of_judge(judged: pd.DataFrame, name: str) -> tuple[pd.DataFrame, str, bool]:
    """What the judge says of pairs of known meaning.

    Args:
        judged: of `judge_meanings`.

    Returns:
        index kind ("same", "other"); judge, n, n_unread, said_same (share of those read), low, high (Wilson's 95%); the
        sentence; and whether it tells them apart: the two intervals do not overlap. A judge without pairs of both
        kinds is believed, and that is said.
    """
    table = judged[judged["question_id"].str.startswith((PLANTED_SAME, PLANTED_OTHER))]
    kinds = table["question_id"].str.startswith(PLANTED_SAME).map({True: "same", False: "other"}).rename("kind")
    grouped = table["same"].groupby(kinds)
    counts = pd.DataFrame({"n": grouped.count(), "n_unread": grouped.size() - grouped.count()})
    counts = counts.reindex(["same", "other"], fill_value=0).assign(said_same=grouped.mean())
    counts["low"], counts["high"] = wilson_interval(grouped.sum().reindex(counts.index).fillna(0), counts["n"])
    counts.insert(0, "judge", name)
    (same, other), (n_same, n_other) = counts["said_same"], counts["n"]
    if counts["n"].min() == 0:
        unread = bool(counts["n_unread"].any())
        why = "unread in all of one kind" if unread else "none of one kind can be made of the questions"
        return counts, f"{name} is not checked on pairs of known meaning: {why}", not unread
    says = (
        f"{name} says that two answers mean the same of {same:.0%} of {n_same} pairs of accepted answers, and of "
        f"{other:.0%} of {n_other} pairs of different ones"
    )
    tells = bool(counts["low"].iloc[0] > counts["high"].iloc[1])
    return (
        counts,
        says if tells else f"{says}: it does not tell them apart, and agreement by meaning is left out",
        tells,
    )


def agreement_of_meanings(
    judged: pd.DataFrame, questions: Sequence[Question], written: pd.DataFrame
) -> tuple[pd.DataFrame, Mapping[str, float]]:
    """Semantic entropy and its kin of every question of one model.

    Args:
        written: its answers, with mean_log_p of each sample's tokens, nan where they were not read.

    Returns:
        question x `MEANING_SURER`, nan where nothing was read or a judgement is unread; and counts: questions judged,
        with an unread judgement, judgements, triples, and how many of these are not transitive.
    """
    same_meaning = dict(zip(judged[PAIR].itertuples(index=False, name=None), judged["same"], strict=True))
    rows = {each.id: dict.fromkeys(MEANING_SURER, np.nan) for each in questions}
    counts = dict.fromkeys(("questions", "n_unread", "judgements", "triples", "intransitive"), 0)
    for key, some in labelled(written, {each.id: each.rendered for each in questions}).groupby(
        "question_id", sort=False
    ):
        every = combinations(sorted(set(some["label"])), 2)
        pairs = {(one, other): same_meaning.get((key, one, other), np.nan) for one, other in every}
        if (some["sample"] == 0).all():
            continue
        if any(map(np.isnan, pairs.values())):
            counts["n_unread"] += 1
            continue
        scores, broken, triples = _of_one_question(some, pairs)
        rows[str(key)] = dict(zip(MEANING_SURER, scores, strict=True))
        more = {"questions": 1, "judgements": len(pairs), "triples": triples, "intransitive": broken}
        counts |= {what: counts[what] + number for what, number in more.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(MEANING_SURER)), counts


def _of_one_question(
    written: pd.DataFrame, pairs: Mapping[tuple[str, str], float]
) -> tuple[tuple[float, float, float, float], int, int]:
    """Its four scores, triples that are not transitive, and triples, by what is said of each pair of labels."""
    drawn, first = written[written["sample"] > 0], written.loc[written["sample"] == 0, "label"].tolist()
    labels, others = drawn["label"].tolist(), sorted(set(drawn["label"]))

    def alike(one: str, other: str) -> bool:
        return one == other or pairs[min(one, other), max(one, other)] == 1

    clusters = meaning_clusters(len(labels), lambda one, other: alike(labels[one], labels[other]))
    agreement = meaning_agreement(clusters, drawn["mean_log_p"].to_numpy(float))
    kin = float(np.mean([alike(first[0], each) for each in labels])) if first else float("nan")
    scores = (agreement.semantic_entropy, agreement.discrete_semantic_entropy, agreement.largest, kin)
    return scores, *intransitive(len(others), lambda one, other: alike(others[one], others[other]))
