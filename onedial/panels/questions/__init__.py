"""Sets of questions: files, data sets by name, checks of their wording."""
