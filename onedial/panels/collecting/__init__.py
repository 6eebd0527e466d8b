"""A panel that is asked: respondents' files, what is kept, what it costs."""
