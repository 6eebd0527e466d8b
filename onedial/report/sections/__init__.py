"""The results of a sweep, in files by what a reader looks for."""
