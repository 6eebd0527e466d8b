"""What a run leaves behind: its folder, its figures, its report, its lines in the terminal."""

from reporting.run_directory import RunDirectory

__all__ = ["RunDirectory"]
