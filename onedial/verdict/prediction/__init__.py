"""How many bits of a target's answers an order of the questions predicts, and what of that could be predicted."""
