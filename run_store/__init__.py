"""Runs on disk: folder, configuration, provenance, parts, resume, lock. Knows tables, not what they mean.

run = Run.begin("steer_sweep", configuration, out=None, resume=False)
with run.stage("sweep"):
    run.parts("sweep", columns, key).append(rows)
"""

from run_store.configuration import configuration_hash, first_difference, flat
from run_store.files import read_json, read_table, write_table
from run_store.journal import Journal
from run_store.manifest import Manifest
from run_store.mirror import Mirror
from run_store.notes import Notes
from run_store.options import add_run_options, configuration_of, parse_run_options
from run_store.parts import Parts
from run_store.provenance import library_versions, machine
from run_store.run import Run

__all__ = [
    "Journal",
    "Manifest",
    "Mirror",
    "Notes",
    "Parts",
    "Run",
    "add_run_options",
    "configuration_hash",
    "configuration_of",
    "first_difference",
    "flat",
    "library_versions",
    "machine",
    "parse_run_options",
    "read_json",
    "read_table",
    "write_table",
]
