"""Other people's logs as panels: Inspect, lm-evaluation-harness, Every Eval Ever, plain tables."""
