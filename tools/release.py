"""Writes a release: a tree with screw_dynamics and screw_dynamics_interfaces side by side, and tarballs.

colcon, catkin_pkg, rosdep and bloom stop at the first package.xml that they find, and that of this repository is at its
top: here they would find one package of two. Called by `make release`, with nothing but the standard library and git.
The files are those that git tracks, as they are in the working tree, and a CHANGELOG.rst in each package, which bloom
reads; the same files give the same bytes."""

import argparse
import gzip
import io
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import changelog

ROOT = Path(__file__).resolve().parent.parent
NAME = "screw_dynamics"
INTERFACES = f"{NAME}_interfaces"
OF_THE_REPOSITORY = (".ci/", ".github/", ".gitignore")      # what serves the repository alone
MADE = 315532800    # seconds: the time of all files, 1980, the first that every archive can have


class ReleaseError(Exception):
    """The release cannot be made; the message says why."""


def git(*arguments):
    """What git answers, in this repository."""
    try:
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise ReleaseError(f"{ROOT} is no repository of git, which says what belongs to a release") from None


def packages():
    """{package: {path in it: file, or its bytes}} of both packages; the license is in each, and the changelog."""
    markdown = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = {name: {"CHANGELOG.rst": changelog.page(name, markdown).encode()} for name in (NAME, INTERFACES)}
    found[INTERFACES]["LICENSE"] = ROOT / "LICENSE"
    for path in git("ls-files", "-z").split("\0"):
        if path.startswith(f"{INTERFACES}/"):
            found[INTERFACES][path.partition("/")[2]] = ROOT / path
        elif path and not path.startswith(OF_THE_REPOSITORY) and (ROOT / path).is_file():
            found[NAME][path] = ROOT / path
    return found


def version_of(found):
    """The version, which the package.xml of both packages must have."""
    versions = {name: ElementTree.parse(files["package.xml"]).getroot().findtext("version")
                for name, files in found.items()}
    if len(set(versions.values())) > 1:
        raise ReleaseError("the versions differ: " + ", ".join(f"{name} {text}" for name, text in versions.items()))
    return versions[NAME]


def write(folder):
    """Write tree and tarballs into a folder; the paths: of the tree, and of each tarball."""
    found = packages()
    version = version_of(found)
    tree = folder / f"{NAME}-{version}"
    shutil.rmtree(tree, ignore_errors=True)
    both = {f"{name}/{path}": file for name, files in found.items() for path, file in files.items()}
    put(both, tree)
    return [tree, tarball(folder / f"{tree.name}.tar.gz", tree.name, both),
            tarball(folder / f"{INTERFACES}-{version}.tar.gz", f"{INTERFACES}-{version}", found[INTERFACES])]


def content(file):
    """The bytes of a file, and its permissions."""
    if isinstance(file, bytes):
        return file, 0o644
    return file.read_bytes(), 0o755 if file.stat().st_mode & 0o100 else 0o644


def put(files, folder):
    """Write {path: file} below a folder."""
    for path, file in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        data, mode = content(file)
        (folder / path).write_bytes(data)
        (folder / path).chmod(mode)


def tarball(path, top, files):
    """Write {path: file} below a folder `top` into a tarball; its path."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, file in sorted(files.items()):
            entry = tarfile.TarInfo(f"{top}/{name}")
            data, entry.mode = content(file)
            entry.size, entry.mtime = len(data), MADE
            archive.addfile(entry, io.BytesIO(data))
    with open(path, "wb") as out, gzip.GzipFile("", "wb", fileobj=out, mtime=MADE) as compressed:
        compressed.write(plain.getvalue())
    return path


def main():
    """Write a release into build/release, or where it is asked for; 0, or 1 and one line."""
    parser = argparse.ArgumentParser(prog="release", description="Writes a tree with both packages, and tarballs.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "release")
    folder = parser.parse_args().folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        changed = git("status", "--porcelain", "--untracked-files=no").splitlines()
        tree, *tarballs = write(folder)
    except (ReleaseError, ValueError, OSError) as error:
        print(f"make release: {error}", file=sys.stderr)
        return 1
    if changed:
        print(f"==> {len(changed)} files of it differ from the last commit", flush=True)
    for path in (tree, *tarballs):
        print(path)
    print(f"colcon build --base-paths {tree}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
