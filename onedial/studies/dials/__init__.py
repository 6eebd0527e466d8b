"""Compare dials at equal yes rates: what is made and asked of the subject (study), in which order (stages)."""
