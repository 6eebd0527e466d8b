from .cards import html_card, one_line
from .command_line import EXIT_CODES, run_command
from .errors import InputError, ProcessLostError
from .files import (
    LARGEST,
    atomic_path,
    cache_dir,
    json_value,
    parsed_yaml,
    path_inside,
    refuse_large,
    refuse_links_outwards,
    sha256_of_file,
    sha256_of_text,
    write_json,
    write_text,
)
from .notices import Notice, leave_undone, notice, noticed
from .options import (
    DryRunOptions,
    KeysOf,
    Options,
    RunOptions,
    changeable,
    configuration_of,
    declared,
    flag,
    option,
    parse_options,
)
from .plain_values import plain, whole_characters
from .plugins import load_plugin
from .processes import is_first_process, process_number
from .pulse import at_work, heard, say, what_is_done
from .run.configuration import configuration_hash, first_difference, flat
from .run.files import read_json, read_table, write_csv, write_table
from .run.manifest import Manifest
from .run.notes import Notes, program, programs
from .run.parts import Parts
from .run.provenance import library_versions, machine
from .run.run import Run
from .run.stages import Stage, go_through
from .suggestions import Named, did_you_mean, nearest

__all__ = [
    "LARGEST",
    "InputError",
    "EXIT_CODES",
    "KeysOf",
    "Manifest",
    "Named",
    "DryRunOptions",
    "Options",
    "RunOptions",
    "changeable",
    "declared",
    "flag",
    "option",
    "parse_options",
    "program",
    "programs",
    "Notes",
    "Notice",
    "Parts",
    "ProcessLostError",
    "Run",
    "Stage",
    "at_work",
    "atomic_path",
    "cache_dir",
    "configuration_hash",
    "configuration_of",
    "did_you_mean",
    "first_difference",
    "flat",
    "go_through",
    "heard",
    "html_card",
    "is_first_process",
    "json_value",
    "library_versions",
    "load_plugin",
    "machine",
    "nearest",
    "leave_undone",
    "notice",
    "noticed",
    "one_line",
    "parsed_yaml",
    "path_inside",
    "plain",
    "process_number",
    "read_json",
    "read_table",
    "refuse_large",
    "refuse_links_outwards",
    "run_command",
    "say",
    "sha256_of_file",
    "sha256_of_text",
    "what_is_done",
    "whole_characters",
    "write_csv",
    "write_json",
    "write_table",
    "write_text",
]
