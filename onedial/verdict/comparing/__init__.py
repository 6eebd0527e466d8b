"""Several dials, runs, instruments and choices beside each other."""
