"""A multiverse: what is made and asked in every universe (study), in which order (stages)."""
