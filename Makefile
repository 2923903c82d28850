# Every target sets up .venv by itself, as far as it is not there already; tools/setup_environment.py has the steps.
# PYTHON=python3.12 make ...   chooses the interpreter; without it the first fit one is taken.

PYTHON ?=
export PYTHON

# A sourced ROS installation must not mix with the ROS 2 of .venv, which has one middleware: Fast DDS.
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONHOME PYTHONPATH
unexport FASTRTPS_DEFAULT_PROFILES_FILE RMW_IMPLEMENTATION _ROS_WHEELS_BOOTSTRAP_COMPLETE
# Some images set it. The tests start Python two hundred times, and each would compile the package's bytecode, for 1.6 s.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
# A process more than cores, as tests of nodes leave them idle, up to four; a file's tests stay together, in the order of
# conftest.py.
PARALLEL := -n $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 4 ? n + 1 : 4))) --dist loadfile --no-loadscope-reorder

.PHONY: help animation demo bench bench-publish bench-ros bench-scale comparison figures drift test test-all test-numba test-arm planted faults soak fuzz prepare-check
.PHONY: lint lint-and-collect setup docs interfaces release wheels clean

help:
	@echo "make demo [URDF=path]  simulate a robot and hold it up with the dynamics node's torques, over ROS 2"
	@echo "make bench             measure against other libraries, some minutes; OPTIONS=--quick to see that it works"
	@echo "make bench-publish     the same, with the pictures to docs/images and the table for docs/benchmarks.md"
	@echo "make bench-ros         measure the nodes against a plain rclpy node, and a closed loop; OPTIONS=--quick"
	@echo "make bench-scale       measure logs and campaigns on one and two workers, a quarter of an hour; OPTIONS=--quick"
	@echo "make comparison        compare the representations of twists, some minutes; writes docs/comparison.md"
	@echo "make figures           integrate the examples of [MT], ten minutes, and find best motions; draws the pictures of both"
	@echo "make docs              run the tutorials, and build the site with a reference of all calls, in build/site"
	@echo "make animation         simulate and draw the animation of the README, some minutes; writes docs/images/contacts.webp"
	@echo "make drift             a million steps of robots by each integrator, some minutes; docs/integration.md"
	@echo "make test              lint, check imports and types, and run the tests that are not slow, 10 minutes from nothing, then 5"
	@echo "make test-all          the same with the slow tests, 45 minutes from nothing and 8 GB on two cores"
	@echo "make test-numba        run some tests of the core with the oldest and the newest Numba supported; VERSIONS=0.60 for others"
	@echo "make test-arm          run some tests of the core on an emulated AArch64, ten minutes; TESTS=path for others"
	@echo "make planted           mutation testing: change N=200 expressions, drawn with SEED=1, in copies of the package, and report those that no test notices; NAMES=part of a path"
	@echo "make faults            do to both nodes all that can happen, ten minutes; NAMES=part of a fault's name for some"
	@echo "make soak              run both nodes at 1 kHz for MINUTES=10, with a picture of latency and memory"
	@echo "make fuzz              fuzz the URDF reader for SECONDS=600, guided by coverage"
	@echo "make prepare-check     compile all kernels anew, ten minutes, and compare them with those in the cache"
	@echo "make lint              only ruff, import-linter and mypy"
	@echo "make setup             only set up .venv with everything for development"
	@echo "make interfaces        build the ROS 2 services into .venv again"
	@echo "make release           write a tree with both ROS packages side by side, and tarballs, into build/release"
	@echo "make wheels            build wheels that compile nothing, with docs/releasing.md, into build/wheels; PYTHONS=3.11 JOBS=1"
	@echo "make clean             remove .venv and all that was built"

setup:
	@tools/setup dev

interfaces:
	@tools/setup --rebuild-interfaces

# Of what is tracked; needs git and any Python 3.
release:
	@$(or $(PYTHON),python3) tools/release.py

# Of what is tracked, for Python 3.10 to 3.14 as far as they are here; half an hour of a core for each.
wheels:
	@$(or $(PYTHON),python3) tools/wheels.py $(PYTHONS) $(if $(JOBS),--jobs $(JOBS)) $(if $(LEVELS),--levels $(LEVELS))

demo:
	@tools/setup demo
	$(BIN)/python examples/demo.py $(if $(URDF),"$(URDF)")

bench:
	@tools/setup bench
	$(BIN)/python -m benchmarks $(OPTIONS)
	$(BIN)/python -m benchmarks.simulator $(filter --quick,$(OPTIONS))
	$(BIN)/python -m benchmarks.inverse_kinematics $(filter --quick --no-install,$(OPTIONS))
	$(BIN)/python -m benchmarks.closed_loops $(filter --quick,$(OPTIONS))
	$(BIN)/python -m benchmarks.batches $(filter --quick,$(OPTIONS))
	$(BIN)/python -m benchmarks.specialized $(filter --quick,$(OPTIONS))
	$(BIN)/python -m benchmarks.contacts $(filter --quick,$(OPTIONS))
	$(BIN)/python -m benchmarks.drives $(filter --quick,$(OPTIONS))
	$(BIN)/python -m benchmarks.c_export $(filter --quick --no-install,$(OPTIONS))

bench-publish:
	@$(MAKE) --no-print-directory bench OPTIONS="--publish $(OPTIONS)"

bench-ros: setup
	$(BIN)/python -m benchmarks.ros $(OPTIONS)

bench-scale:
	@tools/setup bench logs
	$(BIN)/python -m benchmarks.scale $(OPTIONS)

comparison:
	@tools/setup bench
	$(BIN)/python -m comparison $(OPTIONS)

figures:
	@tools/setup plot
	$(BIN)/python -m studies $(OPTIONS)
	$(BIN)/python -m studies.any_order
	$(BIN)/python -m studies.best_motions

docs:
	@tools/setup docs
	$(BIN)/python -m sphinx -q -j auto --fail-on-warning --keep-going docs build/site
	@echo "build/site/index.html"

drift:
	@tools/setup bench
	$(BIN)/python -m studies.drift $(OPTIONS)
	$(BIN)/python -m studies.drift_loops $(OPTIONS)

animation:
	@tools/setup plot
	$(BIN)/python tools/animation.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

# Modules of tests are compiled, with what pytest makes of their asserts, while one core lints: each worker would do it.
lint-and-collect: setup
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null 2>&1 & \
	$(MAKE) --no-print-directory lint; status=$$?; wait; exit $$status

test: lint-and-collect
	$(BIN)/python -m pytest $(PARALLEL)

# Kernels of all parts beforehand: what a process of tests compiles stays in its memory.
test-all: lint-and-collect
	$(BIN)/python -m screw_dynamics.prepare --parts all
	$(BIN)/python -m pytest $(PARALLEL) -m "slow or not slow"

# An interrupted run goes on where it was; build/planted/report.txt has the outcome.
planted: setup
	PYTHONPATH=$(CURDIR):$(CURDIR)/test $(BIN)/python -m mutations -n $(or $(N),200) --seed $(or $(SEED),1) $(NAMES)

# Namespaces do not separate /clock and /diagnostics: no other node should run in this domain.
faults: setup
	PYTHONPATH=$(CURDIR):$(CURDIR)/test $(BIN)/python -m fault_injection faults $(NAMES)

# Of kernels that `make setup` has compiled, or earlier versions of the sources.
prepare-check: setup
	$(BIN)/python tools/prepare_check.py $(OPTIONS)

soak: setup
	PYTHONPATH=$(CURDIR):$(CURDIR)/test $(BIN)/python -m fault_injection soak --minutes $(or $(MINUTES),10)

# Atheris has an environment of its own, which sees .venv: the nodes need nothing of it.
fuzz: setup
	$(BIN)/python -m venv build/fuzz_venv
	build/fuzz_venv/bin/pip install -q atheris
	PYTHONPATH=$(CURDIR):$$($(BIN)/python -c "import site; print(site.getsitepackages()[0])") \
		build/fuzz_venv/bin/python tools/fuzz_urdf.py --seconds $(or $(SECONDS),600)

# PYTHON must be one that the oldest Numba has wheels for, 3.11 at most.
test-numba: setup
	$(BIN)/python tools/test_numba.py $(VERSIONS)

# Needs apt, for Debian's packages; no root.
test-arm: setup
	$(BIN)/python tools/test_arm.py $(TESTS)

clean:
	rm -rf .venv build install log *.egg-info .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
