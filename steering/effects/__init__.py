"""What else a push does: facts, text, written and reasoned answers."""
