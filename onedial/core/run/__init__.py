"""A run on disk: folder, configuration, manifest, parts, journal, one writer, resume."""
