"""Show what a direction is about: the tokens it points at, where texts lie along it, how near it is to others.

    vector.tokens(model)                     raised and lowered at the unembedding
    vector.along(model, text)                every token of a text
    vector.along(model, text, range(30))     after every layer
    vector.project(model, texts, labels)     the last token of each, against what you know of the text
    vector.cosine(other), cosines(vectors)   as numbers

Nothing is pushed here. A projection is the stream's, divided by the vector's residual norm, so that a push of 0.2 moves
it by 0.2. A stream has no zero of its own along a direction: only differences mean something.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import Tensor

from onedial.asking.prompts import Prompt, PromptTemplate
from onedial.asking.questions import Question
from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations, read_streams
from onedial.models.inside.lens import logits_along
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.questions import Questions, Text, Texts, as_prompt, as_prompts, as_questions
from onedial.models.tokens import pad_batch
from onedial.stats.estimate import Estimate, rank_correlation
from onedial.stats.roc import roc_area, roc_area_interval
from steering.looks import Look

LINED_UP = 1.96
"""Of the cosines of two random directions, 95% lie within so much / sqrt(d_model) of 0."""


class Inspected:
    """What looks at one direction after one layer; see the module's text."""

    direction: Tensor
    layer: int
    residual_norm: float
    template: PromptTemplate | None

    if TYPE_CHECKING:

        def check_model(self, model: OpenModel) -> None:
            """As `SteeringVector.check_model`."""

        def check_stream(self, what: str) -> None:
            """As `SteeringVector.check_stream`."""

    @says_how
    def tokens(self, model: OpenModel, n: int = 8) -> Look:
        """The tokens whose logits a step along the direction raises most, and lowers most, at the unembedding.

        Args:
            n: tokens on either side.

        Returns:
            Columns `token, change`, from the most raised to the most lowered. `change` is in logits: what the final
            norm and the unembedding make of a stream of root mean square 1 that lies along the direction
            (`onedial.models.logits_along`), as if no layer came between.

        Raises:
            InputError: a vector of another model.

        >>> from onedial import load_model
        >>> from steering import vector_from_texts
        >>> model = load_model("smollm2-135m-instruct")
        >>> joy = vector_from_texts(model, ["Lovely!", "Fine!"], ["Awful!", "Bad!"], layer=15)
        >>> joy.tokens(model, n=2).to_frame().shape
        (4, 2)
        """
        self.check_model(model)
        if n < 1:
            raise InputError(f"n={n} tokens were asked for; give 1 or more")
        changes = logits_along(model, self.direction)
        order = changes.argsort(descending=True)
        chosen = torch.cat([order[:n], order[-n:]]).tolist()
        frame = pd.DataFrame(
            {"token": [model.tokenizer.decode([token]) for token in chosen], "change": changes[chosen].tolist()}
        )
        left = model.n_layers - 1 - self.layer
        says = f"the {n} tokens raised most and lowered most of {len(changes):,}, past the {left} layers that follow"
        return Look(frame, says, "bars", "change", "token", xlabel="change of the logit", rule=0.0)

    @says_how
    def along(
        self, model: OpenModel, texts: Text | Texts | PromptSet, layers: int | Sequence[int] | None = None
    ) -> Look:
        """Where every token of some texts lies along the direction, after its own layer or after others.

        Args:
            texts: one or several, as `OpenModel.generate` takes them; each is read as it is put to the model, its chat
                template included. Or a `PromptSet`.
            layers: one or several, after which the stream is read; by default the vector's own.

        Returns:
            A row for each text, layer and token. `projection` of the stream on the direction, in the vector's residual
            norms; `cosine` with it; `towards`, the cosine less its mean over the layer's tokens, which is drawn. That
            mean leaves out each text's first token, whose stream is of another size in most models.

        Raises:
            InputError: a vector of another model, a layer that the model has not, or as `OpenModel.generate`.

        >>> from onedial import load_model
        >>> from steering import vector_from_texts
        >>> model = load_model("smollm2-135m-instruct")
        >>> joy = vector_from_texts(model, ["Lovely!", "Fine!"], ["Awful!", "Bad!"], layer=15)
        >>> joy.along(model, "What a day.", range(2)).to_frame()["layer"].nunique()
        2
        """
        self.check_model(model)
        self.check_stream("what is projected is")
        chosen = [self.layer] if layers is None else [layers] if isinstance(layers, int | str) else list(layers)
        model.check_layers(chosen)
        sequences = texts.sequences if isinstance(texts, PromptSet) else model.token_ids(as_prompts(texts))
        tables = []
        for text, ids in enumerate(sequences):
            batch = pad_batch([list(ids)], model.stack.pad_id).to(model.device)
            streams = model.read_residual(batch, chosen, "all")[0].float().cpu()
            along = streams @ self.direction
            cosines = along / streams.norm(dim=-1).clamp_min(torch.finfo(torch.float32).tiny)
            tokens = [model.tokenizer.decode([token]) for token in ids]
            tables += [
                pd.DataFrame(
                    {
                        "text": text,
                        "position": range(len(ids)),
                        "token": tokens,
                        "layer": layer,
                        "projection": along[place] / self.residual_norm,
                        "cosine": cosines[place],
                    }
                )
                for place, layer in enumerate(chosen)
            ]
        frame = pd.concat(tables, ignore_index=True)
        later = frame["position"] > 0
        middle = frame["cosine"].where(later).groupby(frame["layer"]).transform("mean")
        frame["towards"] = frame["cosine"] - middle.fillna(0.0)
        where = f"after layer {chosen[0]}" if len(chosen) == 1 else f"after {len(chosen)} layers"
        says = f"cosine of the stream at each token with the direction, {where}, less the mean over tokens"
        words = "cosine, less the mean of the layer"
        reach = float(frame.loc[later, "towards"].abs().max()) if later.any() else 1.0
        if len(chosen) == 1:
            return Look(frame, says, "tokens", by="towards", bylabel=words, limits=(-reach, reach))
        frame["place"] = frame.groupby("layer").cumcount()
        return Look(
            frame, says, "cells", "place", "layer", "towards", ylabel="layer", bylabel=words, limits=(-reach, reach)
        )

    @says_how
    def project(
        self,
        model: OpenModel,
        texts: PromptSet | Questions | Texts,
        labels: ArrayLike | Tensor | None = None,
        *,
        name: str = "",
    ) -> Look:
        """Where texts lie along the direction at their last token, against a label: does it tell them apart?

        Args:
            texts: questions, which are put as they were when the vector was read; texts or chats for a vector that was
                made of such; or a `PromptSet`.
            labels: (text,) 1 and 0, or any numbers; nan where unknown. By default the margin with which the model
                answers each question yes, unsteered; nan where that is unread.
            name: what the label is called.

        Returns:
            Columns `text, projection` (in residual norms) and `label`. For labels of 1 and 0 the line below the
            picture gives the AUROC (0.5 is chance, 1 when every 1 lies further towards the positive side), for others
            Spearman's rank correlation, each with its 95% interval, for independent texts. Texts that the vector was
            made from lie further apart than others do.

        Raises:
            InputError: a vector of another model, or one that remembers no prompt; labels that are no numbers, or not
                one for each text; or as `PromptSet.build`.

        >>> from onedial import load_model
        >>> from steering import vector_from_texts
        >>> model = load_model("smollm2-135m-instruct")
        >>> joy = vector_from_texts(model, ["Lovely!", "Fine!"], ["Awful!", "Bad!"], layer=15)
        >>> joy.project(model, ["I like it.", "I hate it."], [1, 0]).to_frame().columns.tolist()
        ['text', 'projection', 'label']
        """
        self.check_model(model)
        self.check_stream("what is projected is")
        shown, prompts = self._put(texts)
        if labels is None:
            if not isinstance(prompts, PromptSet):
                prompts = PromptSet.of_prompts(model, prompts, [str(place) for place in range(len(prompts))])
            read = read_activations(model, prompts, [self.layer])
            streams, truth = read.residuals[:, 0], read.margin.where(read.read, torch.nan).double().numpy()
            name = name or "margin of yes over no"
        else:
            truth = _numbers(labels, len(prompts))
            sequences = prompts.sequences if isinstance(prompts, PromptSet) else model.token_ids(prompts)
            streams = read_streams(model, sequences, [self.layer])[:, 0]
        along = (streams @ self.direction / self.residual_norm).double().numpy()
        frame = pd.DataFrame({"text": shown, "projection": along, "label": truth})
        words = "projection on the direction (residual norms)"
        return Look(
            frame, _told_apart(along, truth), "points", "projection", "label", xlabel=words, ylabel=name or "label"
        )

    @says_how
    def cosine(self, other: Any) -> float:
        """The cosine with another vector, a probe, or a tensor of `d_model` numbers.

        Raises:
            InputError: a vector of another model, or what is no direction of this width.
        """
        return float(_directions([self, other]).prod(dim=0).sum())

    def _put(self, texts: Any) -> tuple[list[str], PromptSet | list[Prompt]]:
        """Texts for people, and as prompts: questions put as the vector was read, chats and prompts as they are."""
        if isinstance(texts, PromptSet):
            return [prompt.user for prompt in texts.prompts] or list(texts.question_ids), texts
        shown, prompts = [], []
        for each in as_questions(texts) if isinstance(texts, str | pd.DataFrame) else texts:
            if isinstance(each, str | Question):
                if self.template is None:
                    raise InputError("this vector remembers no prompt; give a PromptSet, or chats, in the texts' place")
                shown.append(each if isinstance(each, str) else each.text)
                prompts.append(self.template.fill(each if isinstance(each, str) else each.rendered))
            else:
                prompts.append(as_prompt(each))
                shown.append(prompts[-1].user)
        return shown, prompts


@says_how
def cosines(directions: Any, *others: Any) -> Look:
    """The cosine of every two directions: of one contrast after several layers, of several methods, of probes.

    Args:
        directions: vectors, probes or tensors of one model, in a list, one after the other, or as name -> each.

    Returns:
        A square table, by name; where none are given, by layer if all differ in it, else by `vector_id`. The line below
        says within what two random directions would lie.

    Raises:
        InputError: none, vectors of two models, or directions of two widths.

    >>> look = cosines({"east": torch.tensor([1.0, 0.0]), "north": torch.tensor([0.0, 1.0])})
    >>> look.to_frame().loc["east"].tolist()
    [1.0, 0.0]
    """
    if others or hasattr(directions, "direction"):
        directions = [directions, *others]
    given = list(directions.values()) if isinstance(directions, Mapping) else list(directions)
    units = _directions(given)
    layers = [getattr(each, "layer", None) for each in given]
    names: list[Any] = [getattr(each, "vector_id", place) for place, each in enumerate(given)]
    if isinstance(directions, Mapping):
        names = list(directions)
    elif None not in layers and len(set(layers)) == len(given):
        names = layers
    by_layer = names is layers
    frame = pd.DataFrame((units @ units.T).numpy(), names, names)
    chance = LINED_UP / units.shape[1] ** 0.5
    says = f"cosines of {len(given)} directions; of two random ones 95% lie within {chance:.2f} of 0"
    words = "layer" if by_layer else ""
    return Look(frame, says, "cells", xlabel=words, ylabel=words, bylabel="cosine", limits=(-1.0, 1.0))


def _directions(given: Sequence[Any]) -> Float[Tensor, "direction d_model"]:
    """Unit length each."""
    try:
        given_directions = [torch.as_tensor(getattr(each, "direction", each)).detach().float().cpu() for each in given]
    except (TypeError, ValueError, RuntimeError):
        kinds = ", ".join(type(each).__name__ for each in given)
        raise InputError(f"directions were given as {kinds}; give vectors, probes or tensors, no pushes") from None
    if not given_directions or any(
        each.ndim != 1 or each.shape != given_directions[0].shape for each in given_directions
    ):
        shapes = ", ".join(str(tuple(each.shape)) for each in given_directions) or "none"
        raise InputError(
            f"directions of the shapes {shapes} were given; give vectors of one model, d_model numbers each"
        )
    if len({each.model.fingerprint for each in given if hasattr(each, "model")}) > 1:
        raise InputError("vectors of two models were given, whose directions cannot be compared; take vectors of one")
    return torch.stack([each / each.norm().clamp_min(torch.finfo(torch.float32).tiny) for each in given_directions])


def _numbers(labels: ArrayLike | Tensor, n: int) -> np.ndarray:
    try:
        truth = np.asarray(labels.cpu() if isinstance(labels, Tensor) else labels, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"the labels are no numbers ({error}); give 1 and 0, or any numbers") from error
    if truth.shape != (n,):
        raise InputError(f"labels of shape {truth.shape} for {n} texts; give one for each")
    return truth


def _told_apart(along: np.ndarray, truth: np.ndarray) -> str:
    """How well a projection goes with a label, in words."""
    known = np.isfinite(truth)
    kinds = np.unique(truth[known])
    unknown = f"; {int((~known).sum())} without a label" if not known.all() else ""
    if set(kinds.tolist()) <= {0.0, 1.0}:
        n_positive, n_negative = int((truth == 1).sum()), int((truth == 0).sum())
        area = float(roc_area(along, truth))
        ends = roc_area_interval(area, n_positive, n_negative)
        return f"AUROC {Estimate(area, *ends):.2f}, {n_positive} of label 1 and {n_negative} of label 0{unknown}"
    return f"rank correlation {rank_correlation(along, truth):.2f} over {int(known.sum())} texts{unknown}"
