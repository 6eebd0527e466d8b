"""How far samples agree in what they mean, by pairwise judgements that are kept in the run.

Answers of equal words mean the same and are not asked about. Of the others every pair of one question is judged, in
parts of `AT_ONCE` that are each on disk before the next is asked; a run that goes on asks for the rest alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.questions import Question
from onedial.asking.respondents import RESPONDENTS
from onedial.asking.store import Store
from onedial.confidence.samples import intransitive, meaning_agreement, meaning_clusters
from onedial.core.notices import notice
from onedial.core.run.run import Run
from onedial.models.checkpoints.weights import resolve_weights
from onedial.models.entailment import EntailmentModel, classifies_texts
from onedial.models.model import OpenModel
from onedial.models.written_scores import read_written
from onedial.panels.grading.grading import answer_label
from onedial.selfreport.ask.choices import choice_items
from onedial.selfreport.ask.same_meaning import judged_same
from onedial.show.progress import progress_bar
from onedial.stats.shares import wilson_interval
from onedial.studies.battery.recorded import RECORDED
from onedial.studies.battery.respondents import models_elsewhere, respondents_of

AT_ONCE = 64
MOST_PLANTED = 50
MEANT = (["question_id", "one", "other", "text", "other_text", "same"], ["question_id", "one", "other"])
LIKELIHOODS = (["model", "question_id", "sample", "mean_log_p"], ["model", "question_id", "sample"])
PLANTED_SAME, PLANTED_OTHER = "planted same ", "planted other "
"""Begin the question_id of pairs that are known to mean the same, and not to."""
MEANING_SURER = {
    "semantic entropy": -1,
    "discrete semantic entropy": -1,
    "largest meaning": 1,
    "means the same as the likeliest": 1,
}
"""Score -> +1 where higher means surer, -1 where lower does."""
Pair = tuple[str, str, str]
"""question, answer, answer."""


class MeaningJudge:
    """Who says whether two answers mean the same: a model of natural language inference, or any respondent.

    Args:
        name: as `--same-meaning` takes it. bill: of the models of providers.

    Raises:
        InputError: no such model.
    """

    def __init__(self, name: str, bill: Store) -> None:
        self.name, self.bill = name, bill
        is_elsewhere = name in RESPONDENTS or name.startswith(RECORDED) or bool(models_elsewhere([name]))
        self._judge: partial[pd.DataFrame] | EntailmentModel | None = None
        if is_elsewhere:
            return
        if classifies_texts(name):
            self._judge = EntailmentModel(name)
        else:
            resolve_weights(name)  # refused before anything is asked; read when it is its turn

    def __call__(self, pairs: Sequence[Pair]) -> pd.DataFrame:
        """As `judged_same`."""
        if self._judge is None:
            _, make = next(respondents_of([self.name], self.bill))
            self._judge = partial(judged_same, make(0))
        if isinstance(self._judge, EntailmentModel):
            asked, one, other = zip(*pairs, strict=True)
            return pd.DataFrame({"same": self._judge.same_meaning(asked, one, other), "failed": ""})
        return self._judge(pairs)


def read_samples(run: Run, name: str, model: OpenModel, questions: Sequence[Question], written: pd.DataFrame) -> None:
    """Mean log-probability of the tokens of every sample after its question, unless it is on disk.

    Args:
        written: of all models: model, question_id, sample, text.
    """
    parts = run.parts("likelihoods", *LIKELIHOODS)
    done = {sample for model_name, _, sample in parts.done_keys() if model_name == name}
    prompts = {each.id: CLOSED_BOOK.prompt(each.text) for each in questions}
    drawn = written[(written["model"] == name) & (written["sample"] > 0) & (written["text"] != "")]
    todo = {sample: own for sample, own in drawn.groupby("sample") if sample not in done}
    with progress_bar(len(todo), f"{name}: samples read") as advance:
        for own in todo.values():
            found = read_written(model, [prompts[key] for key in own["question_id"]], own["text"].tolist())
            means = [float(each.statistics.log_p.mean()) if len(each.statistics) else np.nan for each in found]
            parts.append(own.assign(mean_log_p=means))
            advance(1)


def judge_meanings(
    run: Run,
    judge: MeaningJudge,
    questions: Sequence[Question],
    written: pd.DataFrame,
    pool: Sequence[Question],
    seed: int,
) -> None:
    """Judge every pair of answers in other words that one model gave to one question, and pairs of known meaning.

    A judgement that failed is no judgement: it is not stored, and a run that goes on asks for it again.

    Args:
        pool: questions of whose accepted answers the pairs of known meaning are made, by the seed.
    """
    parts = run.parts("meant", *MEANT)
    done = parts.done_keys()
    by_id = {each.id: each.text for each in pool}
    rows = pd.concat([pairs_to_judge(written, questions), planted_pairs(pool, seed)], ignore_index=True)
    failed: Counter[str] = Counter()
    todo = rows[[key not in done for key in rows[MEANT[1]].itertuples(index=False, name=None)]]
    with judge.bill.occasion("same meaning"), progress_bar(len(todo), f"{judge.name}: pairs of answers") as advance:
        for start in range(0, len(todo), AT_ONCE):
            part = todo.iloc[start : start + AT_ONCE]
            asked = [by_id[key.removeprefix(PLANTED_SAME).removeprefix(PLANTED_OTHER)] for key in part["question_id"]]
            pairs = list(zip(asked, part["text"], part["other_text"], strict=True))
            said = judge(pairs)
            failed.update(said["failed"][said["failed"] != ""])
            known = part.assign(same=said["same"].to_numpy())[(said["failed"] == "").to_numpy()]
            if len(known):
                parts.append(known)
            advance(len(part))
    if failed:
        reasons = "; ".join(f"{n}: {reason}" for reason, n in failed.most_common())
        notice(f"{judge.name}: {failed.total()} judgements failed ({reasons}); they are blank, and --resume asks again")


def labelled(written: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """The answers that say something, with their normalised words as `label`, in the order of drawing."""
    texts = {each.id: each.text for each in questions}
    labels = [answer_label(text, texts[key]) or "" for text, key in written[["text", "question_id"]].to_numpy()]
    table = written.assign(label=labels)
    return table[table["label"] != ""].sort_values(["model", "question_id", "sample"])


def pairs_to_judge(written: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """Pairs of answers in other words, each once: `MEANT` without `same`."""
    table = labelled(written, questions)
    once = table.drop_duplicates(["question_id", "label"])
    shown = {(key, label): text for key, label, text in once[["question_id", "label", "text"]].to_numpy()}
    found = {
        (str(key), one, other): (shown[key, one], shown[key, other])
        for (_, key), own in table.groupby(["model", "question_id"], sort=False)
        for one, other in combinations(sorted(set(own["label"])), 2)
    }
    return pd.DataFrame([[*key, *texts] for key, texts in found.items()], columns=MEANT[0][:-1])


def planted_pairs(questions: Sequence[Question], seed: int) -> pd.DataFrame:
    """Pairs of known meaning: two accepted answers of one question, and one of them with another question's answer.

    Returns:
        `MEANT` without `same`; question_id begins with `PLANTED_SAME` or `PLANTED_OTHER`.
    """
    rows = []
    distractors = {each.question_id: each.options[1] for each in choice_items(questions, questions, seed)}
    for each in questions:
        labels = {answer_label(text, each.text): text for text in reversed(each.answers)}
        own = list(labels.values())
        pairs = {PLANTED_SAME: own[:2] if len(own) > 1 else [], PLANTED_OTHER: [own[0], distractors.get(each.id, "")]}
        for kind, texts in pairs.items():
            if len(texts) == 2 and all(texts):
                rows.append([f"{kind}{each.id}", *texts, *texts])
    table = pd.DataFrame(rows, columns=MEANT[0][:-1])
    order = np.random.default_rng(seed).permutation(len(table))
    table = table.iloc[order]
    return table.groupby(table["question_id"].str.startswith(PLANTED_SAME), sort=False).head(MOST_PLANTED)


def check_of_judge(run: Run, judge: MeaningJudge) -> tuple[pd.DataFrame, str, bool]:
    """What the judge says of pairs of known meaning.

    Returns:
        index kind ("same", "other"); judge, n, n_unread, said_same (share of those read), low, high (Wilson's 95%); the
        sentence; and whether it tells them apart: the two intervals do not overlap. A judge without pairs of both
        kinds is believed, and that is said.
    """
    table = run.parts("meant", *MEANT).read()
    table = table[table["question_id"].str.startswith((PLANTED_SAME, PLANTED_OTHER))]
    kinds = table["question_id"].str.startswith(PLANTED_SAME).map({True: "same", False: "other"}).rename("kind")
    grouped = table["same"].astype(float).groupby(kinds)
    found = pd.DataFrame({"n": grouped.count(), "n_unread": grouped.size() - grouped.count()})
    found = found.reindex(["same", "other"], fill_value=0).assign(said_same=grouped.mean())
    found["low"], found["high"] = wilson_interval(grouped.sum().reindex(found.index).fillna(0), found["n"])
    found.insert(0, "judge", judge.name)
    (same, other), (n_same, n_other) = found["said_same"], found["n"]
    if found["n"].min() == 0:
        why = (
            "unread in all of one kind" if found["n_unread"].min() else "none of one kind can be made of the questions"
        )
        return found, f"{judge.name} is not checked on pairs of known meaning: {why}", not found["n_unread"].any()
    says = (
        f"{judge.name} says that two answers mean the same of {same:.0%} of {n_same} pairs of accepted answers, and of "
        f"{other:.0%} of {n_other} pairs of different ones"
    )
    tells = bool(found["low"].iloc[0] > found["high"].iloc[1])
    return found, says if tells else f"{says}: it does not tell them apart, and agreement by meaning is left out", tells


def agreement_of_meanings(
    run: Run, name: str, questions: Sequence[Question], written: pd.DataFrame
) -> tuple[pd.DataFrame, Mapping[str, float]]:
    """Semantic entropy and its kin of every question of one model.

    Returns:
        question x `MEANING_SURER`, nan where nothing was read or a judgement is unread; and counts: questions judged,
        with an unread judgement, judgements, triples, and how many of these are not transitive.
    """
    judged = run.parts("meant", *MEANT).read()
    said = dict(zip(judged[MEANT[1]].itertuples(index=False, name=None), judged["same"], strict=True))
    likely = run.parts("likelihoods", *LIKELIHOODS).read()
    table = labelled(written[written["model"] == name], questions).merge(likely, "left", LIKELIHOODS[1])
    rows = {each.id: dict.fromkeys(MEANING_SURER, np.nan) for each in questions}
    counts = dict.fromkeys(("questions", "n_unread", "judgements", "triples", "intransitive"), 0)
    for key, own in table.groupby("question_id", sort=False):
        pairs = {
            (one, other): float(said.get((key, one, other), np.nan))
            for one, other in combinations(sorted(set(own["label"])), 2)
        }
        if (own["sample"] == 0).all():
            continue
        if any(np.isnan(each) for each in pairs.values()):
            counts["n_unread"] += 1
            continue
        scores, broken, triples = _of_one_question(own, pairs)
        rows[str(key)] = dict(zip(MEANING_SURER, scores, strict=True))
        more = {"questions": 1, "judgements": len(pairs), "triples": triples, "intransitive": broken}
        counts |= {what: counts[what] + number for what, number in more.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(MEANING_SURER)), counts


def _of_one_question(
    own: pd.DataFrame, pairs: Mapping[tuple[str, str], float]
) -> tuple[tuple[float, float, float, float], int, int]:
    """Its four scores, triples that are not transitive, and triples, by what is said of each pair of labels."""
    drawn, first = own[own["sample"] > 0], own.loc[own["sample"] == 0, "label"].tolist()
    labels, others = drawn["label"].tolist(), sorted(set(drawn["label"]))

    def alike(one: str, other: str) -> bool:
        return one == other or pairs[min(one, other), max(one, other)] == 1

    clusters = meaning_clusters(len(labels), lambda one, other: alike(labels[one], labels[other]))
    found = meaning_agreement(clusters, drawn["mean_log_p"].to_numpy(float))
    kin = float(np.mean([alike(first[0], each) for each in labels])) if first else float("nan")
    scores = (found.semantic_entropy, found.discrete_semantic_entropy, found.largest, kin)
    return scores, *intransitive(len(others), lambda one, other: alike(others[one], others[other]))
