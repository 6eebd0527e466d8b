"""Correlations of what lies behind yes and no: tetrachoric, polychoric, intervals."""
