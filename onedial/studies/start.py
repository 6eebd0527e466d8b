"""Begin a run: its folder is checked before a model is loaded for it, and made once there is one."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from onedial.core.options import Options, RunOptions, changeable, configuration_of
from onedial.core.processes import is_first_process
from onedial.core.pulse import at_work, say
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.studies.options.shared import EngineOptions, SubjectOptions

if TYPE_CHECKING:
    from onedial.models.model import OpenModel


class Start:
    """The beginning of one program's run, by its options.

    Args:
        label: see `Run.begin`.
        watches: whether the program itself tells W&B how it goes, where its options ask for it.

    Attributes:
        threads: on how many the model works, once `set_threads` has chosen; a run that goes on keeps its number.

    Raises:
        InputError: the run's folder cannot be used, as `Run.check`: of several processes the first one says so. Or
            W&B cannot be logged to.
    """

    def __init__(
        self,
        program: str,
        options: RunOptions,
        label: str | None = None,
        watches: bool = False,
    ) -> None:
        self._program, self._label, self._may_change = program, label, changeable(options)
        self._configuration, self._out, self._resume = configuration_of(options), options.out, options.resume
        self._recorded: dict[str, Any] = {}
        if is_first_process():
            self._recorded = Run.check(self._configuration, self._out, self._resume, self._may_change)
        if options.wandb != "off":
            from onedial.show.wandb_run import check_wandb

            check_wandb(options.wandb)
        self._wandb = "off" if watches else options.wandb
        self._engine = engine_of(options)
        self.threads: int | None = None

    def set_threads(self) -> None:
        """Choose the threads of whatever model is loaded next, and keep other libraries quiet meanwhile."""
        from onedial.models.threads import choose_threads, quiet_libraries

        quiet_libraries()
        self.threads = choose_threads(self._recorded.get("threads"))

    def load_subject(self, options: SubjectOptions, device: str | None = None) -> "OpenModel":
        """The model of `--model --revision --dtype --device-map`; says which it is.

        Raises:
            InputError: as `onedial.models.load_model`.
        """
        with at_work(f"loading {options.model}"):
            self.set_threads()
            from onedial.models.model import load_model
            from onedial.models.processes import everyone, is_split

            model = load_model(
                options.model,
                revision=options.revision,
                dtype=options.dtype,
                device=device,
                device_map=options.device_map,
            )
        split = f", split over {len(everyone(None))} processes" if is_split() else ""
        say(f"subject: {model.identity.name}, {model.n_layers} layers, {model.dtype}, on {model.device}{split}")
        return model

    def load_in_turn(self, names: Sequence[str]) -> "Iterator[tuple[str, OpenModel]]":
        """Each name and its model, in its turn; the first at once, so that a wrong name leaves no folder behind.

        Raises:
            InputError: as `onedial.models.load_model`.
        """
        self.set_threads()
        from onedial.models.model import load_model

        first = (names[0], load_model(names[0]))
        return chain([first], ((name, load_model(name)) for name in names[1:]))

    @contextmanager
    def writing(self, model: "OpenModel") -> Iterator[None]:
        """While the context lasts, the model writes by what `--engine` names.

        Raises:
            InputError: as `steering.engines.writer.write_with_vllm`.
        """
        with self._engine(model):
            yield

    def begin(self, notes: Notes, model: "OpenModel | None" = None) -> Run:
        """The run's folder, new or resumed, with the model's identity, device and dtype, threads and notes.

        Raises:
            InputError: as `Run.begin`; or the run was begun with another model.
        """
        run = Run.begin(
            self._program, self._configuration, self._out, self._resume, self._label, may_change=self._may_change
        )
        with run.withdrawn_if_refused():
            if model is not None:
                run.record_once("model", model.identity.as_dict(), "load the same model or choose another --out")
                run.record(device=str(model.device), dtype=str(model.dtype).removeprefix("torch."))
            if self.threads is not None:
                run.record(threads=self.threads)
            notes.keep_in(run)
            if self._wandb != "off":
                from onedial.show.wandb_run import watch

                watch(run, self._wandb)
        return run


def engine_of(options: Options) -> "Callable[[OpenModel], AbstractContextManager[Any]]":
    """What makes a model write by another engine while a context lasts; transformers where none is named.

    Raises:
        InputError: the engine is not there.
    """
    if not isinstance(options, EngineOptions) or options.engine == "transformers":
        return nullcontext
    from steering.engines.requests import check_told
    from steering.engines.writer import python_with_vllm, writing_with_vllm

    python_with_vllm(options.engine_python)
    check_told(getattr(options, "operator", "add"), getattr(options, "positions", None) or "all")
    settings = dict(pair.split("=", 1) for pair in options.engine_options)
    return partial(
        writing_with_vllm, python=options.engine_python, options={name: _read(text) for name, text in settings.items()}
    )


def _read(text: str) -> Any:
    """A number, true or false where it is one; else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
