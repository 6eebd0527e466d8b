"""Dials beside an intervention: moved cut, instructions, adapters; gates."""
