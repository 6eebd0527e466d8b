"""A place to look: every run of a folder in a browser, finished or going on. Only reads, and loads no model."""
