"""What each program understands, as dataclasses (`onedial.core.options`): groups that several share, and each's own."""
