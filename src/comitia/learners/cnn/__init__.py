"""Convolutional networks for images: the space `cnn`, and networks that are trained side by side in one program.

PyTorch is imported by `stacked.py` alone, when the first network is trained: `pip install 'comitia[images]'`.
"""

from comitia.learners.cnn.cnn_space import CNN
from comitia.learners.cnn.networks import ConvolutionalNetwork, Networks

__all__ = ["CNN", "ConvolutionalNetwork", "Networks"]
