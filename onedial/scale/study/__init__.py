"""A whole panel's analysis, its sensitivity and its page."""
