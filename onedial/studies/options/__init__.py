"""Declare what each program understands (`onedial.core.options`): groups that several share, and each's own."""
