"""A new respondent on a panel's scale from few answers: which questions to put to it, and what they tell."""
