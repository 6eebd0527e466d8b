"""What the answers are worth, each beside its null."""
