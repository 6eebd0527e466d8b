"""Ask the Hugging Face hub which commit an id means, and for its files; tell failures in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import constants, get_session, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    LocalEntryNotFoundError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from onedial.core.errors import InputError
from onedial.core.suggestions import did_you_mean
from onedial.models.checkpoints.embedded import EMBEDDED
from onedial.models.checkpoints.folders import is_whole

WANTED_FILES = ["*.json", "*.jinja", "*.txt", "tokenizer.model", "model*.safetensors"]
"""No pickles, no second copy of the weights (consolidated.safetensors), no code."""

PATIENCE_SECONDS = 10

OFFLINE_WAYS = f"without a network, give the built-in {EMBEDDED}, a local folder or a GGUF file"


class HubUnreachable(InputError):
    """The hub did not answer, and the user's cache does not hold the model."""


def hub_commit(hub_id: str, revision: str | None) -> str:
    """The commit that `revision` (by default the main branch) of a hub model stands for now.

    Without a network it is the one that the user's cache holds.

    Raises:
        HubUnreachable: no answer, nothing in the cache.
        InputError: no such model or revision, gated, or a repository without config.json.
    """
    reachable = _hub_answers()
    with _explained(hub_id, revision):
        config = hf_hub_download(hub_id, "config.json", revision=revision, local_files_only=not reachable)
    folder = Path(config).parent
    if not reachable and not (is_whole(folder) or is_whole(folder, classifies=True)):
        raise HubUnreachable(_unreachable(hub_id))
    return folder.name


def hub_folder(hub_id: str, commit: str, *, weights: bool = True) -> Path:
    """The folder with config, tokeniser and safetensors of a hub model at `commit`, downloaded where need be.

    Args:
        weights: False leaves the safetensors where they are.

    Raises:
        InputError: as `hub_commit`.
    """
    wanted = [pattern for pattern in WANTED_FILES if weights or not pattern.endswith(".safetensors")]
    with _explained(hub_id, commit):
        return Path(
            snapshot_download(hub_id, revision=commit, allow_patterns=wanted, local_files_only=not _hub_answers())
        )


def cached_folder(hub_id: str, commit: str | None = None) -> Path | None:
    """The folder of `commit` (by default the main branch) in the user's hub cache, where it is there and complete."""
    try:
        config = hf_hub_download(hub_id, "config.json", revision=commit, local_files_only=True)
    except LocalEntryNotFoundError:
        return None
    folder = Path(config).parent
    return folder if is_whole(folder) else None


def _unreachable(hub_id: str) -> str:
    return (
        f"{hub_id} is not complete in the local cache and the Hugging Face hub cannot be reached"
        f"{_meant(hub_id) or ';'} {OFFLINE_WAYS}"
    )


def _meant(name: str) -> str:
    """The embedded model, where its name is near the one that came."""
    return did_you_mean(name, [EMBEDDED])


def _hub_answers() -> bool:
    """One quick question, because the hub's own client spends half a minute on retries without a network."""
    if constants.HF_HUB_OFFLINE:
        return False
    try:
        get_session().head(constants.ENDPOINT, timeout=PATIENCE_SECONDS)
    except HTTPError:
        return False
    return True


@contextmanager
def _explained(hub_id: str, revision: str | None) -> Iterator[None]:
    page = f"https://huggingface.co/{hub_id}"
    try:
        yield
    except GatedRepoError as error:
        raise InputError(
            f"{hub_id} is gated: accept its licence on {page} while logged in, then set HF_TOKEN to a token of that "
            "account (https://huggingface.co/settings/tokens)"
        ) from error
    except RevisionNotFoundError as error:
        raise InputError(f"{hub_id} has no revision {revision!r}; see {page}/commits for those that exist") from error
    except RepositoryNotFoundError as error:
        raise InputError(
            f"{hub_id} is neither a local folder nor a model on the Hugging Face hub"
            f"{_meant(hub_id) or '; check the spelling.'} For a private model set HF_TOKEN to a token that may read it"
        ) from error
    except RemoteEntryNotFoundError as error:
        raise InputError(
            f"{hub_id} has no config.json on the hub; if it holds GGUF files, download one and give its path"
        ) from error
    except HFValidationError as error:
        raise InputError(
            f"{hub_id!r} is neither a path that exists nor a hub id of the form owner/name"
            f"{_meant(hub_id) or '; check the spelling'}"
        ) from error
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "no status"
        raise InputError(f"the Hugging Face hub refused {hub_id} (status {status}); try again later") from error
    except (LocalEntryNotFoundError, HTTPError) as error:
        raise HubUnreachable(_unreachable(hub_id)) from error
