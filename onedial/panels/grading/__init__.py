"""Whether a text answers a question: names, numbers, choices, non-answers."""
