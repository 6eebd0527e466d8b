"""Packages are found by their folders; the programs of experiments/ are installed as `onedial.experiments`."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["onedial*", "probes*", "steering*"]), "onedial.experiments"],
    package_dir={"onedial.experiments": "experiments"},
)
