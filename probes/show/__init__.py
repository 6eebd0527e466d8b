"""The figures and the report of a study of probes."""
