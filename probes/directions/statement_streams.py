"""Read the streams after yes and after no to statements, as they stand and negated.

    stores = StatementStores.read(model, load_statements(load_facts()), layers=[10, 20])
    found = read_without_labels(stores.at(20), stores.draws)

Each statement is put to the model with the question whether it is true, the model's turn is given the answer, and the
stream is read at that answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from onedial.asking.questions import Question
from onedial.asking.statements import NEGATION, STATEMENT_PROMPT, Statement
from onedial.core.cards import one_line
from onedial.models.inside.activation_store import ActivationStore
from onedial.models.inside.store_filling import store_activations
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.stats.intervals import unit_weights
from probes.directions.contrast import StatementStreams
from probes.fitting.concordance import N_BOOTSTRAP, Floats
from probes.fitting.folds import N_FOLDS, TopicFolds

MARKERS = ("", NEGATION)


@dataclass(frozen=True, eq=False)
class StatementStores:
    """Streams of statements, on the disk.

    Attributes:
        statements: in the order of every array. stores: after yes, and after no. folds: of the statements.
    """

    statements: tuple[Statement, ...]
    stores: tuple[ActivationStore, ActivationStore]
    folds: TopicFolds
    n_bootstrap: int = N_BOOTSTRAP
    seed: int = 0

    __repr__ = one_line

    @classmethod
    def read(
        cls,
        model: OpenModel,
        statements: Sequence[Statement],
        folder: str | None = None,
        *,
        layers: Sequence[int] | None = None,
        n_folds: int = N_FOLDS,
        n_bootstrap: int = N_BOOTSTRAP,
        seed: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> "StatementStores":
        """Read them, or find them read.

        Args:
            folder: beginning of the two folders' names; by default in the user's cache. layers: by default all.
            progress: is told how many prompts were done, of 4 for each statement.

        Raises:
            InputError: as in `store_activations`; fewer topics than folds.
        """
        folds = TopicFolds.of([statement.topic for statement in statements], n_folds, seed)
        asked = [Question(f"{one.id} {marker}".strip(), one.text(marker)) for marker in MARKERS for one in statements]
        prompts = PromptSet.build(model, asked, STATEMENT_PROMPT)
        yes, no = (
            store_activations(
                model,
                prompts.continued(tokens[0]),
                Path(f"{folder}-{answer}") if folder else None,
                layers=layers,
                progress=progress,
            )
            for answer, tokens in (("yes", prompts.tokens.yes), ("no", prompts.tokens.no))
        )
        return cls(tuple(statements), (yes, no), folds, n_bootstrap, seed)

    @cached_property
    def draws(self) -> Floats:
        """Topics drawn with replacement."""
        return unit_weights(np.arange(self.folds.n_topics), self.n_bootstrap, self.seed)

    def at(self, layer: int) -> StatementStreams:
        """One layer's streams."""
        n = len(self.statements)
        rows = [store.read(layer).double().numpy().reshape(len(MARKERS), n, -1) for store in self.stores]
        true = np.array([float(statement.true) for statement in self.statements])
        return StatementStreams(np.stack(rows, axis=2).transpose(1, 0, 2, 3), true, self.folds)
