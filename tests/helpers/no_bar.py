"""A progress bar that shows nothing, for code that is handed one."""


class NoBar:
    def __init__(self, *arguments):
        pass

    def __enter__(self):
        return lambda steps: None

    def __exit__(self, *ended):
        pass
