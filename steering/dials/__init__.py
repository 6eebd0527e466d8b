"""Dials beside an intervention: threshold shift, instructions, adapters; gates."""
