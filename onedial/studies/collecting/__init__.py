"""Ask everybody and make a panel of it: the stages of `experiments/panel.py collect`.

Every answer lies in the run's answers.jsonl before anything is made of it. asking: who is asked what; panel: grading
and the files.
"""
