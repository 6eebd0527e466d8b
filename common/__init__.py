"""What every other package may lean on: errors that a user can act on, files that are never half written, parsers."""

from common.cards import html_card, one_line
from common.command_line import KeysOf, natural, positive, program_parser, run_command
from common.errors import InputError
from common.files import atomic_path, cache_dir, sha256_of_file, sha256_of_text, write_json, write_text
from common.notices import Notice, notice, noticed
from common.plain import plain
from common.processes import is_first_process, say
from common.statistics import LEVEL, QUANTILES_95, Z_95, interval_95, p_value
from common.suggestions import did_you_mean, nearest

__all__ = [
    "LEVEL",
    "QUANTILES_95",
    "Z_95",
    "InputError",
    "KeysOf",
    "Notice",
    "atomic_path",
    "cache_dir",
    "did_you_mean",
    "html_card",
    "is_first_process",
    "interval_95",
    "natural",
    "nearest",
    "notice",
    "noticed",
    "one_line",
    "p_value",
    "plain",
    "positive",
    "program_parser",
    "run_command",
    "say",
    "sha256_of_file",
    "sha256_of_text",
    "write_json",
    "write_text",
]
