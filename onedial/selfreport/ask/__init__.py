"""What is asked: choices, pressure, own answers, self-prediction, questionnaires."""
