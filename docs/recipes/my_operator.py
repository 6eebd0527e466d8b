r"""An operator: a function of stream, direction, magnitude and length.

At magnitude 0 it must return the stream bit for bit. `--operator` chooses it.

    python experiments/steer_sweep.py --plugin my_operator.py --operator stretch --layer 21 \
           --magnitudes=-1,-0.5,0.5,1 --n-questions 60 --without-verdict --out runs/stretched
"""

from steering import OPERATORS


def stretch(stream, direction, magnitude, length):
    """Multiply what already lies along the direction by 1 + magnitude: -1 takes it out, 1 doubles it."""
    along = stream.float() @ direction
    return stream + ((magnitude.float() * along)[..., None] * direction).to(stream.dtype)


OPERATORS["stretch"] = stretch
