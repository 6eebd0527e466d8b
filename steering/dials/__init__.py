"""Turn other dials beside an intervention: threshold shift, instructions, adapters; gates."""
