"""What is asked and how an answer is read: questions, instruments, prompts, respondents, measurements."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
