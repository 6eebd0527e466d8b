"""Write by vLLM (`--engine vllm`), steered or not, once that is proven to be the same.

requests   a text that is to be written, and a push as vLLM is told it
writer     what stands in for transformers in this process
vllm_side  vLLM itself, in this Python or another: `serve` is called, `worker` pushes the stream
proof      both beside each other, before use
"""
