"""Where in the prompt does a label read, and where is its direction written? Maps of layer by position.

    position    counted from the end of the prompt: -1 is the last token, at which the answer is read
    auroc       of the probe of a layer, fitted at the last position on other topics, read at this layer and position
    written     what the blocks since the layer before write along the label's direction at this position: mean over the
                questions of label 1 minus mean over those of label 0, in standard deviations of what the last token
                holds along it at the deepest layer; summed over layers it is how far the two kinds lie apart there

Where all questions go on alike (the words after the question), each position is one token. Before, positions of
several questions hold different words, and a map reads what stands so far from the end.

    direct      what a push along a direction does to the margin by the unembedding alone (direct logit attribution):
                the slope of the margin as the last stream is moved, per residual norm of the layer it was found at

How far a patched stream takes the answer: the share of the way from the receiver's margin to the donor's.

    recovered(layer) = sum over pairs (patched margin - receiver's) / sum over pairs (donor's margin - receiver's)

0 = the patch changes nothing, 1 = the receiver answers as the donor does. Sums above and below, since the ratio of one
pair whose margins hardly differ may be anything; the interval draws pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.models.inside.activation_store import ActivationStore
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.stats.level import QUANTILES_95
from probes.directions.concordance import Concordance
from probes.directions.geometry import directions_of
from probes.fitting.measure import ProbeTask
from probes.fitting.solvers import Training

Floats = NDArray[np.float64]


def patching_table(margins: Floats, layers: Sequence[int], n_bootstrap: int = 999, seed: int = 0) -> pd.DataFrame:
    """One row per layer.

    Args:
        margins: (pair, layer + 2) as `steering.causes.patched_margins` gives them: patched after each layer, then the
            receiver's own and the donor's.

    Returns:
        Columns `layer, recovered, low, high` (95% over pairs), `moved` (mean change of the margin), `margin` and
        `donor_margin` (means, unpatched), `n` pairs.

    >>> margins = np.array([[-1.0, 0.5, -1.0, 1.0], [-2.0, 1.0, -2.0, 2.0]])  # two layers, receiver, donor
    >>> patching_table(margins, [10, 20], n_bootstrap=19)["recovered"].tolist()
    [0.0, 0.75]
    """
    own, given = margins[:, [-2]], margins[:, [-1]]
    moved, whole = margins[:, :-2] - own, given - own
    draws = np.random.default_rng(seed).multinomial(len(margins), [1 / len(margins)] * len(margins), n_bootstrap)
    low, high = np.quantile((draws @ moved) / (draws @ whole), QUANTILES_95, axis=0)
    found = {"layer": list(layers), "recovered": moved.sum(axis=0) / whole.sum(), "low": low, "high": high}
    ends = {"margin": float(own.mean()), "donor_margin": float(given.mean()), "n": len(margins)}
    return pd.DataFrame(found | {"moved": moved.mean(axis=0)} | ends)


N_POSITIONS = 28
"""With a sentence of request and the turn of the answer, a few words of the question are still among them."""
MAP_COLUMNS = ("label", "layer", "position", "token", "auroc", "low", "high", "written", "n")
_METHOD, _STEP = "lda", 0.01


@dataclass(frozen=True, eq=False)
class MappedQuestions:
    """Some questions of a task, read at each token.

    Attributes:
        store: positions "each", several layers. prompts: of its questions.
        rows: places of its questions among the task's.
    """

    store: ActivationStore
    prompts: PromptSet
    rows: NDArray[np.intp]

    __repr__ = one_line

    def ends(self, layer: int, n: int) -> Floats:
        """(question, n, d_model) the last n tokens, the last one at the end; nan before a question's own tokens."""
        found = np.full((len(self.prompts), n, self.store.d_model), np.nan)
        for place, tokens in enumerate(self.store.read_tokens(layer)):
            own = tokens[-n:].double().numpy()
            found[place, n - len(own) :] = own
        return found


def position_map(
    mapped: MappedQuestions,
    whole: ActivationStore,
    task: ProbeTask,
    directions: Mapping[str, Float[Tensor, " d_model"]],
    model: OpenModel,
    n_positions: int = N_POSITIONS,
) -> pd.DataFrame:
    """The maps of each label; see the module's text.

    Args:
        mapped: the questions that are read at each token. whole: all questions of the task at the last position, which
            the probes are fitted to. directions: label -> direction, of any length. model: for the tokens' names.

    Returns:
        One row per label, layer and position, `MAP_COLUMNS`; intervals over topics.

    Raises:
        InputError: the stores share no layer, or a label that the task has not.

    >>> import tempfile
    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from onedial.models import store_activations
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=12)
    >>> folder, prompts = tempfile.TemporaryDirectory(), PromptSet.build(model, questions, METACOGNITIVE)
    >>> store = store_activations(model, prompts, f"{folder.name}/acts", positions=["last"])
    >>> from probes import TopicFolds
    >>> truth = pd.DataFrame({"hard": [question.level > 2 for question in questions]}, dtype=float)
    >>> folds = TopicFolds.of([question.topic for question in questions], n_folds=3)
    >>> task = ProbeTask(truth, tuple(question.text for question in questions), folds, n_bootstrap=19)
    >>> each = store_activations(model, prompts, f"{folder.name}/each", positions=["each"])
    >>> mapped = MappedQuestions(each, prompts, np.arange(len(questions)))
    >>> table = position_map(mapped, store, task, {"hard": torch.ones(model.d_model)}, model, n_positions=2)
    >>> sorted(table["position"].unique().tolist())
    [-2, -1]
    """
    layers = [layer for layer in mapped.store.layers if layer in whole.layers]
    if not layers or not set(directions) <= set(task.labels):
        raise InputError(
            f"maps of {', '.join(directions)} at {len(layers)} layers; give labels of the task, and stores that share "
            "layers"
        )
    labels, folds = list(directions), task.folds.take(mapped.rows)
    columns = [task.labels.index(label) for label in labels]
    truth = task.values[mapped.rows][:, columns]
    units = np.stack([(d / d.norm()).double().numpy() for d in directions.values()], axis=1)
    names = [_name_at(mapped.prompts, model, back) for back in range(n_positions, 0, -1)]
    spread = (whole.read(layers[-1]).double().numpy() @ units).std(axis=0)
    lines, before = [], None
    for layer in layers:
        ends = mapped.ends(layer, n_positions)
        scores = _scores(ends, whole.read(layer).double().numpy(), task, columns, mapped.rows)
        along = ends @ units
        written = along if before is None else along - before
        before = along
        for at, label in enumerate(labels):
            for place in range(n_positions):
                area = Concordance.of(scores[:, place, at], truth[:, at], folds).area(task.draws)
                here = np.isfinite(ends[:, place, 0])
                sides = [written[here & (truth[:, at] == side), place, at] for side in (1, 0)]
                apart = sides[0].mean() - sides[1].mean() if min(map(len, sides)) else np.nan
                lines.append(
                    {
                        "label": label, "layer": layer, "position": place - n_positions, "token": names[place],
                        **area.named(), "written": float(apart / spread[at]),
                        "n": int((here & np.isfinite(truth[:, at])).sum()),
                    }
                )  # fmt: skip
    return pd.DataFrame(lines, columns=list(MAP_COLUMNS))


@torch.inference_mode()
def direct_effects(
    model: OpenModel,
    store: ActivationStore,
    prompts: PromptSet,
    directions: Mapping[str, Float[Tensor, " d_model"]],
    norm: float,
) -> dict[str, float]:
    """Mean slope of the margin as the last stream is moved along each direction, per `norm`; positive towards yes.

    What blocks above the direction's layer make of it is left out: held against the whole effect of a push
    (`steering.causes.effects_of`) it says how much of that goes straight to the unembedding.

    Args:
        store: holds the last layer at the last position. norm: length of a step of 1.

    >>> import tempfile
    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from onedial.models import store_activations
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=12)
    >>> folder, prompts = tempfile.TemporaryDirectory(), PromptSet.build(model, questions, METACOGNITIVE)
    >>> store = store_activations(model, prompts, f"{folder.name}/acts", positions=["last"])
    >>> list(direct_effects(model, store, prompts, {"any": torch.ones(model.d_model)}, norm=1.0))
    ['any']
    """
    final = store.read(model.n_layers - 1)
    found = {}
    for name, direction in directions.items():
        step = (direction / direction.norm()).float() * norm * _STEP
        up, down = (model.readout.margin(final + sign * step, prompts.tokens) for sign in (1, -1))
        found[name] = float((up - down).double().mean()) / (2 * _STEP)
    return found


def _scores(ends: Floats, rows: Floats, task: ProbeTask, columns: Sequence[int], chosen: NDArray[np.intp]) -> Floats:
    """(question, position, label) by the probe of the other folds."""
    found = np.full((*ends.shape[:2], len(columns)), np.nan)
    for fold in range(task.folds.n_folds):
        own = task.folds.inside(fold)
        training = Training.of(rows[~own])
        weight = directions_of(training, task.values[~own][:, columns], np.zeros(len(columns)), _METHOD)
        here = own[chosen]
        found[here] = (ends[here] - training.mean) @ weight
    return found


def _name_at(prompts: PromptSet, model: OpenModel, back: int) -> str:
    """The token so far from the end where all questions share it, else where in the prompt it stands."""
    tokens = {sequence[-back] for sequence in prompts.sequences if len(sequence) >= back}
    return repr(model.tokenizer.decode([tokens.pop()])) if len(tokens) == 1 else f"question, {-back}"
