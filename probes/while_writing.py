"""Read probes while the model writes: token by token of a reasoned answer, up to the yes or no.

    reading     (w . h - mean) / sd, h the stream at the token, w the probe's direction; mean and standard deviation
                over the streams that the probe was fitted to, so that 0 is an ordinary question before its answer
    progress    0 at the first token that is written, 1 at the last: the verdict, where one stands

The question that this answers: does the reading tell the verdict before it is written? `auroc` of a stretch is how well
the mean reading there ranks the questions that end in yes above those that end in no.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import torch

from onedial.asking.instruments import REASONED, Instrument, TextReader
from onedial.asking.prompts import Prompt
from onedial.asking.questions import Question
from onedial.asking.respondents import Response
from onedial.core.errors import InputError
from onedial.models.forward.batches import batches_by_length, map_batches
from onedial.models.model import OpenModel
from onedial.models.respondent import LocalRespondent
from onedial.models.tokens import encode, pad_batch
from onedial.stats.arrays import Floats
from onedial.stats.level import QUANTILES_95
from onedial.stats.roc import roc_area, roc_area_interval
from probes.fitting.linear import Probe

N_STRETCHES = 10
TOKEN_COLUMNS = ("question_id", "place", "n_tokens", "progress", "token", "label", "reading", "said_yes")
COURSE_COLUMNS = ("label", "verdict", "progress", "mean", "low", "high", "n", "auroc", "auroc_low", "auroc_high")
_AT_ONCE = 16


def read_while_writing(
    model: OpenModel,
    questions: Sequence[Question],
    probes: Mapping[str, Probe],
    layer: int,
    streams: Floats,
    instrument: Instrument = REASONED,
    max_new_tokens: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Every probe at every token that the model writes in answer to each question.

    The model writes first, as `LocalRespondent` has it answer; then prompt and text are run once more as a whole, and
    read. Either is done in batches.

    Args:
        probes: label -> probe of this layer. streams: (question, d_model) that they were fitted to; give the scale.
        instrument: one whose answer is text.
        max_new_tokens: by default the instrument's.
        progress: is told how many questions were answered.

    Returns:
        One row per question, token and label, `TOKEN_COLUMNS`; said_yes is 1, 0, or nan where no verdict could be read.

    Raises:
        InputError: an instrument that is read by its logits; no room for the text.

    >>> import torch
    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from onedial import PromptSet
    >>> from onedial.models import read_activations
    >>> from probes import fit_probe
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=40)
    >>> middle = model.n_layers // 2
    >>> read = read_activations(model, PromptSet.build(model, questions, METACOGNITIVE), layers=[middle])
    >>> streams, topics = read.residuals[:, 0].double(), [question.topic for question in questions]
    >>> probe = fit_probe(streams, [question.level > 2 for question in questions], topics=topics)
    >>> given = {"hard": probe}, middle, streams.numpy()
    >>> result = read_while_writing(model, questions[:1], *given, max_new_tokens=3)
    >>> result["label"].unique().tolist()
    ['hard']
    """
    reader = instrument.reader
    if not isinstance(reader, TextReader):
        raise InputError(f"the instrument {instrument.name!r} writes nothing; choose one that is read as text")
    if not questions:
        raise InputError("there are no questions to answer with reasons; give at least one")
    asked = replace(instrument, reader=replace(reader, max_new_tokens=max_new_tokens or reader.max_new_tokens))
    prompts = [asked.prompt(question.rendered) for question in questions]
    answers = {answer.place: answer for answer in LocalRespondent(model, progress=progress).answer(prompts, asked)}
    units = np.stack([probe.direction.double().numpy() for probe in probes.values()], axis=1)
    before = streams @ units
    mean, spread = before.mean(axis=0), before.std(axis=0)
    lines: dict[int, list[pd.DataFrame]] = {}
    for place, tokens, stream in _written_streams(model, prompts, answers, layer):
        if not len(stream):
            continue
        said_yes = answers[place].said_yes
        readings = (stream @ units - mean) / spread
        n = len(stream)
        common = {
            "question_id": questions[place].id, "place": np.arange(n), "n_tokens": n,
            "progress": np.arange(n) / max(n - 1, 1), "token": tokens,
            "said_yes": np.nan if said_yes is None else float(said_yes),
        }  # fmt: skip
        lines[place] = [
            pd.DataFrame({**common, "label": label, "reading": readings[:, at]}) for at, label in enumerate(probes)
        ]
    if not lines:
        return pd.DataFrame(columns=list(TOKEN_COLUMNS))
    in_order = [table for place in sorted(lines) for table in lines[place]]
    return pd.concat(in_order, ignore_index=True)[list(TOKEN_COLUMNS)]


@torch.inference_mode()
def _written_streams(
    model: OpenModel, prompts: Sequence[Prompt], answers: Mapping[int, Response], layer: int
) -> list[tuple[int, list[str], Floats]]:
    """Place, tokens and (token, d_model) streams of what was written in answer to each prompt."""
    sequences = model.token_ids(prompts)
    wholes = [
        encode(model.tokenizer, model.render(prompt) + answers[place].raw_text) for place, prompt in enumerate(prompts)
    ]
    starts = [_begins(prompt, whole) for prompt, whole in zip(sequences, wholes, strict=True)]

    def read(batch: list[int]) -> list[tuple[int, list[str], Floats]]:
        padded = pad_batch([wholes[place] for place in batch], model.stack.pad_id).to(model.device)
        rows = model.read_residual(padded, [layer], "all")[:, 0]
        return [
            (
                place,
                [model.tokenizer.decode([token]) for token in wholes[place][starts[place] :]],
                row[padded.attention_mask[at].bool()][starts[place] :].double().cpu().numpy(),
            )
            for at, (place, row) in enumerate(zip(batch, rows, strict=True))
        ]

    lengths = [len(whole) for whole in wholes]
    alone = model.fast_paths_for(max(lengths, default=0)).requires_equal_length
    return map_batches(batches_by_length(lengths, _AT_ONCE, alone), read, share=False)


def course_of(
    tokens: pd.DataFrame, n_stretches: int = N_STRETCHES, n_bootstrap: int = 999, seed: int = 0
) -> pd.DataFrame:
    """Means over questions along the text, by verdict, and how well each stretch tells the verdict.

    Args:
        tokens: as `read_while_writing` gives them.

    Returns:
        One row per label, verdict ("yes", "no", "unread") and stretch, `COURSE_COLUMNS`: progress is the stretch's
        middle; mean of the questions' means with a 95% interval over questions; n questions; auroc of yes against no in
        that stretch, with Newcombe's interval (nan where either kind has fewer than 5).

    >>> tokens = pd.DataFrame({"label": "knows", "question_id": ["a", "a", "b", "b"], "progress": [0.1, 0.9] * 2})
    >>> tokens = tokens.assign(reading=[0.0, 1.0, 0.0, -1.0], said_yes=[1.0, 1.0, 0.0, 0.0])
    >>> course_of(tokens, n_stretches=2, n_bootstrap=19)["mean"].tolist()
    [0.0, 0.0, -1.0, 1.0]
    """
    stretch = np.minimum((tokens["progress"].to_numpy() * n_stretches).astype(int), n_stretches - 1)
    kind = tokens["said_yes"].map({1.0: "yes", 0.0: "no"}).fillna("unread")
    marked = tokens.assign(stretch=stretch, verdict=kind)
    means = marked.groupby(["label", "stretch", "question_id"], sort=False).agg(
        reading=("reading", "mean"), verdict=("verdict", "first")
    )
    rng, lines = np.random.default_rng(seed), []
    for (label, at), of_stretch in means.groupby(level=["label", "stretch"], sort=True):
        values = {name: part["reading"].to_numpy() for name, part in of_stretch.groupby("verdict")}
        separation = _told(values.get("yes", np.empty(0)), values.get("no", np.empty(0)))
        for name, given in values.items():
            drawn = rng.choice(given, (n_bootstrap, len(given))).mean(axis=1) if len(given) > 1 else np.full(2, np.nan)
            low, high = np.quantile(drawn, QUANTILES_95)
            lines.append(
                {
                    "label": label, "verdict": name, "progress": (float(str(at)) + 0.5) / n_stretches,
                    "mean": given.mean(),
                    "low": low, "high": high, "n": len(given), "auroc": separation[0], "auroc_low": separation[1],
                    "auroc_high": separation[2],
                }
            )  # fmt: skip
    return pd.DataFrame(lines, columns=list(COURSE_COLUMNS))


def _told(yes: Floats, no: Floats) -> tuple[float, float, float]:
    if min(len(yes), len(no)) < 5:
        return (float("nan"),) * 3
    area = float(roc_area(np.r_[yes, no], np.r_[np.ones(len(yes)), np.zeros(len(no))]))
    return area, *roc_area_interval(area, len(yes), len(no))


def _begins(prompt: Sequence[int], whole: Sequence[int]) -> int:
    """The first place at which the whole text is not the prompt any more; a last letter may join what follows."""
    n = 0
    while n < min(len(prompt), len(whole)) and prompt[n] == whole[n]:
        n += 1
    return n
