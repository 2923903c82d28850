"""What is installed beside the Python package; name, version, dependencies and executables are in pyproject.toml."""

from glob import glob

from setuptools import setup

SHARE = "share/screw_dynamics"

setup(
    # Here and not in pyproject.toml: the spelling of a licence there changed with setuptools 77, and the setuptools of
    # ROS 2 Jazzy and Kilted (68) and today's understand only this one both.
    license="Apache-2.0",
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/screw_dynamics"]),
        (SHARE, ["package.xml"]),
        (f"{SHARE}/launch", glob("launch/*.launch.py")),
        (f"{SHARE}/config", glob("config/*.yaml")),
        (f"{SHARE}/urdf", glob("urdf/*")),
    ],
    zip_safe=False,
)
