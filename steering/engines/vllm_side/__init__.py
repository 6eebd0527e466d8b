"""What runs beside vLLM, in an environment that need not have onedial: nothing here imports it.

The folder is put on the path there, so that no file in it may be called like a library.
"""
