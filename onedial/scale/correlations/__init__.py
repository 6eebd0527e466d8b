"""Tetrachoric correlations of pairs of respondents."""
