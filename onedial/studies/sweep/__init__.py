"""Sweep and judge, from the plan to the report: the stages of `experiments/steer_sweep.py`.

Every stage asks what is not on disk yet and writes each batch as it comes, so that a run which was killed goes on.
planning: what will be swept; stage_functions: what the subject is asked; causes: interchange and mediation;
sweep_stages: all of them in order, with what they cost.
"""
