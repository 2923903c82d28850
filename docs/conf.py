"""Settings of the site that `make docs` builds: the README, the pages in this folder, and a reference from docstrings.

Pages are read on their own too, in a checkout: links lead from file to file, and are changed here for the site.
Tutorials are notebooks as text, which a build executes; what came out is kept in build/notebooks as long as neither
their cells nor the package change. Without executing: python -m sphinx -D nb_execution_mode=off docs build/site"""
import hashlib
import logging
import os
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import ziamath
from docutils import nodes
from jupyter_cache import get_cache
from numpy.typing import ArrayLike
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.typing import stringify_annotation

import screw_dynamics

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from examples_of_reference import examples, opening  # noqa: E402

ziamath.config.svg2, ziamath.config.precision = False, 2        # no glyph by an id, which would be that of many
EXAMPLES = examples()
TEXT = Config(napoleon_use_param=False, napoleon_use_rtype=False)        # types are no links: array_like (..., n)
ARRAY_LIKE = [stringify_annotation(ArrayLike, mode) for mode in (
    "smart", "fully-qualified", "fully-qualified-except-typing")]

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
IMAGE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)")

project, author, project_copyright = "screw_dynamics", "the authors of screw_dynamics", "the authors of screw_dynamics"
version = release = screw_dynamics.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton"]        # myst_nb brings myst_parser
myst_heading_anchors, myst_enable_extensions = 4, ["amsmath", "deflist", "dollarmath"]
nb_execution_mode, nb_execution_timeout, nb_execution_raise_on_error, nb_execution_show_tb = "cache", 600, True, True
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")      # more would wait longer than a small matrix takes
logging.getLogger("traitlets").setLevel(logging.WARNING)       # which notebook is executed
nb_merge_streams, nb_output_stderr = True, "remove"         # there is told what is compiled
smartquotes = False                 # a prime is a derivative
html_static_path, html_css_files = ["_static"], ["site.css"]
html_math_renderer = "svg"          # MathJax would come over the network, and MathML needs a font for mathematics
html_theme, html_title = "furo", f"screw_dynamics {release}"
html_copy_source = html_show_copyright = False
autodoc_default_options = {"members": True, "inherited-members": "tuple", "member-order": "bysource"}
autodoc_typehints, autodoc_typehints_format, maximum_signature_line_length = "signature", "short", 90
python_use_unqualified_type_names, autodoc_type_aliases = True, {"ArrayLike": "ArrayLike"}


def notebooks() -> Path:
    """Where results of notebooks are kept: a folder for the state of what they run."""
    digest = hashlib.sha256()
    for folder in ("screw_dynamics", "urdf", "examples", "docs/tutorials"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix not in (".md", ".pyc"):
                digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    kept = ROOT / "build" / "notebooks" / digest.hexdigest()[:16]
    for other in kept.parent.glob("*"):
        if other != kept:
            shutil.rmtree(other)
    return kept


nb_execution_cache_path = str(notebooks())


def linked(text: str, folder: Path, page: Path) -> str:
    """Return the text of a page in this folder of the repository, with its links as those of a page in another: to a
    page of the site, to a file to be downloaded, or for a folder none."""
    def link(match):
        words, target, anchor = match[1], match[2], match[3] or ""
        path = (folder / target).resolve()
        if path.is_dir():
            return words
        if path == ROOT / "README.md":
            path = ROOT / "docs" / "index.md"
        elif path.suffix == ".md" and ROOT / "docs" not in path.parents:
            return f"[{words}](path:{os.path.relpath(path, page)})"         # MyST would look for a page
        return f"[{words}]({os.path.relpath(path, page)}{anchor})"

    def image(match):
        return f"![{match[1]}]({os.path.relpath((folder / match[2]).resolve(), page)})"
    return IMAGE.sub(image, LINK.sub(link, text))


def marked_up(lines: list[str]) -> list[str]:
    """A docstring in NumPy's form as reStructuredText: its text is plain, but for `code`, and for examples before the
    first section, which are indented paragraphs."""
    paragraphs, sections = [], False
    for paragraph in "\n".join(lines).split("\n\n"):
        sections = sections or "\n---" in paragraph
        if paragraph.startswith("    ") and not sections:
            paragraphs.append(f"::\n\n{paragraph}")
        else:
            words, *parts = re.split(r"``?([^`]+)``?", paragraph)
            paragraphs.append(escaped(words) + "".join(
                f"``{part}``" if k % 2 == 0 else escaped(part) for k, part in enumerate(parts)))
    return "\n\n".join(paragraphs).split("\n")


def escaped(text: str) -> str:
    """Text without what reStructuredText takes for markup."""
    return re.sub(r"([\\*|]|_(?=\W|$))", r"\\\1", text)


def short(types: str | None) -> str | None:
    """A signature with NumPy's ArrayLike by its name, where Sphinx has it written out, and types without modules."""
    if types is None:
        return None
    for written in ARRAY_LIKE:
        types = types.replace(written, "ArrayLike")
    types = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", types)     # Sphinx's own name for it, within unions
    return re.sub(r"(?<![\w'\"])~?(?:[a-z_]\w*\.)+(?=[A-Z])", "", types)


def methods_of_robot() -> str:
    """The reference of Robot: a section for each subject, which is a base class, with its methods in their order."""
    def section(base):
        names = [name for name, x in vars(base).items() if not name.startswith("_") and getattr(x, "__doc__", None)]
        kinds = {name: "attribute" if isinstance(vars(base)[name], property) else "method" for name in names}
        listed = "\n".join(f".. auto{kind}:: Robot.{name}" for name, kind in kinds.items())
        title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", base.__name__).capitalize()
        return names and f"## {title}\n\n```{{eval-rst}}\n.. currentmodule:: screw_dynamics\n\n{listed}\n```\n"
    subjects = [base for base in reversed(screw_dynamics.Robot.__mro__)
                if base.__module__.startswith("screw_dynamics.robot.")]
    return "\n".join(filter(None, (section(base) for base in subjects if base is not screw_dynamics.Robot)))


def other_names() -> str:
    """The reference of what the package offers beside Robot, and beside modules, which have pages of their own."""
    elsewhere = "Robot", "ClosedLoopRobot", "ElasticJoints", "identify"         # on the pages of their modules
    offered = {name: getattr(screw_dynamics, name) for name in screw_dynamics.__all__ if name not in elsewhere}
    own = {name: x for name, x in offered.items() if callable(x)}
    listed = "\n".join(f".. auto{'class' if isinstance(x, type) else 'function'}:: {name}" for name, x in own.items())
    return f"```{{eval-rst}}\n.. currentmodule:: screw_dynamics\n\n{listed}\n```\n"


def generated(match: re.Match) -> str:
    """Return the text for a comment on a page of the reference: the start of a program of examples, or the names that
    one of these functions lists."""
    return opening(match[2]) if match[1] == "examples" else globals()[match[2]]()


def formula(translator, node):
    """A formula as outlines, in the color of the text, its baseline on that of the line; read out as what it was
    written."""
    block = isinstance(node, nodes.math_block)
    svg = ziamath.Latex(node.astext(), size=17, inline=not block, color="currentColor").svgxml()
    _, top, _, height = map(float, svg.get("viewBox").split())
    svg.set("style", f"vertical-align: {-top - height:.2f}px")
    translator.body.append(translator.starttag(node, "div" if block else "span", "", CLASS="math", role="img",
                                               **{"aria-label": node.astext()}))
    translator.body.append(ElementTree.tostring(svg, "unicode") + ("</div>" if block else "</span>"))
    raise nodes.SkipNode


def make_cache(app):
    """Make the database of notebooks, before processes that read pages side by side each find none."""
    if app.config.nb_execution_mode == "cache":
        get_cache(app.config.nb_execution_cache_path).list_cache_records()


def setup(app):
    """Connect these to Sphinx."""
    def read(app, name, content):
        folder = (ROOT / "docs" / name).parent
        content[0] = linked(content[0], folder, folder)
        if name.startswith("reference/"):
            content[0] = re.sub(r"<!-- (examples|names): (\w+) -->\n", generated, content[0])

    def include(app, relative, parent, content):
        content[0] = linked(content[0], (ROOT / "docs" / relative).resolve().parent, (ROOT / "docs" / parent).parent)

    def signature(app, what, name, x, options, arguments, result):
        return short(arguments), short(result)

    def docstring(app, what, name, x, options, lines):
        lines[:] = marked_up(lines)
        if what not in ("attribute", "property", "data"):       # there what is before a colon would be a type
            lines[:] = NumpyDocstring(lines, TEXT, app, what, name, x, options).lines()
        code = EXAMPLES.get(name.removeprefix("screw_dynamics."))
        if code:
            shown = re.sub(r"  +#", "  #", code)
            lines += ["", ".. code-block:: python", "", *(f"    {line}" for line in shown.splitlines()), ""]
    app.add_html_math_renderer("svg", (formula, None), (formula, None))
    app.connect("builder-inited", make_cache)
    app.connect("source-read", read)
    app.connect("include-read", include)
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
