"""The stages of `experiments/panel.py collect`: everybody is asked, and a panel comes of it.

Every answer lies in the run's answers.jsonl before anything is made of it. asking: who is asked what; panel: grading
and the files.
"""
