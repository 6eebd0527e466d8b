"""What some respondents share beside the scale: specific factors, and the names of pairs that go together."""
