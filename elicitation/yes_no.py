"""What counts as yes and as no."""

MASS_FLOOR = 0.1
"""Below this probability of all yes and no tokens together an answer counts as unread."""

YES_VARIANTS = ("Yes", "yes", "YES", " Yes", " yes", " YES")
NO_VARIANTS = ("No", "no", "NO", " No", " no", " NO")
