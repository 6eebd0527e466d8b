"""What every other package may lean on: errors that a user can act on, and files that are never half written."""

from common.errors import InputError
from common.files import atomic_path, cache_dir, sha256_of_file, sha256_of_text, write_json, write_text
from common.processes import is_first_process, say

__all__ = [
    "InputError",
    "atomic_path",
    "cache_dir",
    "is_first_process",
    "say",
    "sha256_of_file",
    "sha256_of_text",
    "write_json",
    "write_text",
]
