"""Looks the dependencies of both packages up in a clone of rosdistro, and writes what it has for them:

    python tools/rosdep_keys.py ../rosdistro

writes test/rosdep_keys.txt, a line for each key: on which systems it is a package of the system, or in which
distributions of ROS it is released. test/test_package_xml.py holds package.xml against that, without a network. Run it
when a dependency is added, and before a release. Exit code 1, and a line for each, if a key is unknown."""

import argparse
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "test" / "rosdep_keys.txt"
RULES = "rosdep/base.yaml", "rosdep/python.yaml"
SYSTEMS = "ubuntu", "debian", "fedora", "rhel"
DISTRIBUTIONS = "jazzy", "kilted", "lyrical", "rolling"


def packages():
    """{name: its keys} of both packages."""
    read = (ElementTree.parse(path).getroot() for path in (
        ROOT / "package.xml", ROOT / "screw_dynamics_interfaces" / "package.xml"))
    return {root.findtext("name"): {child.text for child in root if child.tag.endswith("depend")} for root in read}


def load(text):
    """A file of YAML, by the fast reader where there is one: these have a megabyte."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def released(distribution):
    """The names of the packages of a distribution file that have a release."""
    names = set()
    for repository, entry in distribution["repositories"].items():
        release = entry.get("release") or {}
        if "version" in release:
            names.update(release.get("packages", [repository]))
    return names


def rows(keys, rules, distributions):
    """{key: where it is known}: systems whose own package it is, not one of pip, or distributions that release it."""
    found = {}
    for key in sorted(keys):
        systems = [name for name in SYSTEMS if is_a_package(rules.get(key, {}).get(name))]
        found[key] = systems or [name for name, names in distributions.items() if key in names]
    return found


def is_a_package(rule):
    """Whether a system's rule names packages, of the newest release where it tells releases apart."""
    if isinstance(rule, dict):
        return "pip" not in rule and (is_a_package(rule["*"]) if "*" in rule else any(map(is_a_package, rule.values())))
    return bool(rule)


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rosdistro", type=Path, help="a clone of rosdistro")
    clone = parser.parse_args().rosdistro

    def git(*command):
        return subprocess.run(["git", "-C", clone, *command], check=True, capture_output=True, text=True).stdout

    rules = {key: rule for path in RULES for key, rule in load(git("show", f"HEAD:{path}")).items()}
    distributions = {name: released(load(git("show", f"HEAD:{name}/distribution.yaml"))) for name in DISTRIBUTIONS}
    both = packages()
    found = rows(set.union(*both.values()) - set(both), rules, distributions)
    head = git("log", "-1", "--format=%H of %cs").strip()
    TABLE.write_text(f"# Keys of both package.xml in rosdistro {head}, by tools/rosdep_keys.py.\n" + "".join(
        f"{key}: {' '.join(where)}\n" for key, where in found.items()))
    unknown = [key for key, where in found.items() if not where]
    print(*(f"{key} is neither a key of rosdep nor a released package" for key in unknown), sep="\n", end="")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
