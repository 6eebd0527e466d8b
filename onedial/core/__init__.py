"""What every room may lean on: a run on disk, files that are never half written, notices, the command line."""
