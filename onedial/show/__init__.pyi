from .columns import Column, columns_of, count, digits, percent, yes_or_no
from .figure_marks import band, entry, legend_below, mark_rows, reach, rule
from .figure_style import (
    COLOURS,
    FAINT,
    GRID,
    INK,
    MARKERS,
    PAPER,
    SMALLEST,
    STYLE,
    Drawing,
    family_styles,
    named,
    new_figure,
    plain_log_labels,
    save_figure,
    set_title,
    styled,
)
from .formatters import NOTHING, headline, interval, number, p_value
from .labels import one_line_labels, shortened_apart, target_labels
from .page import Card, Explorer, Rank, Section, rows
from .point_names import name_points
from .progress import progress_bar
from .results import CAPTIONS, captions_of, save_results
from .run_tables import Rows, flat_rows, stage_rows, surroundings
from .writers.tensorboard import TensorBoardRun
from .writers.wandb_login import WandbOptions, check_wandb, wandb_is_installed, wandb_knows_key
from .writers.wandb_run import FILES, WandbRun, artifact_name
from .writers.watcher import RunWatcher, watch
from .writers.writer import LogOptions, Writer

__all__ = [
    "CAPTIONS",
    "COLOURS",
    "FAINT",
    "FILES",
    "GRID",
    "INK",
    "MARKERS",
    "NOTHING",
    "PAPER",
    "SMALLEST",
    "STYLE",
    "Card",
    "Column",
    "Drawing",
    "Explorer",
    "LogOptions",
    "Rank",
    "Rows",
    "Section",
    "RunWatcher",
    "TensorBoardRun",
    "WandbOptions",
    "WandbRun",
    "Writer",
    "artifact_name",
    "band",
    "captions_of",
    "columns_of",
    "check_wandb",
    "count",
    "digits",
    "entry",
    "family_styles",
    "flat_rows",
    "headline",
    "interval",
    "legend_below",
    "mark_rows",
    "name_points",
    "named",
    "new_figure",
    "number",
    "one_line_labels",
    "p_value",
    "percent",
    "plain_log_labels",
    "progress_bar",
    "reach",
    "rows",
    "rule",
    "save_figure",
    "save_results",
    "set_title",
    "shortened_apart",
    "stage_rows",
    "styled",
    "surroundings",
    "target_labels",
    "wandb_is_installed",
    "wandb_knows_key",
    "watch",
    "yes_or_no",
]
