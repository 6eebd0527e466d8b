from .columns import Column, columns_of, count, digits, percent, yes_or_no
from .figure_marks import band, entry, legend_below, mark_rows, reach, rule
from .figure_style import (
    COLOURS,
    FAINT,
    GRID,
    INK,
    MARKERS,
    PAPER,
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
from .wandb_login import WandbOptions, check_wandb, wandb_is_installed, wandb_knows_key
from .wandb_run import FILES
from .wandb_watcher import WandbWatcher

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
    "STYLE",
    "Card",
    "Column",
    "Drawing",
    "Explorer",
    "Rank",
    "Rows",
    "Section",
    "WandbOptions",
    "WandbWatcher",
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
    "yes_or_no",
]
