"""CHANGELOG.md in the form of catkin_pkg, reStructuredText (REP 132), which bloom makes Debian's changelogs of.

CHANGELOG.md is the one source; tools/release.py puts what this makes of it into both packages. catkin_pkg reads a flat
list of what is below the title of a version, "0.1.0 (2026-11-22)", and passes over titles within: each item begins with
that of its own, then. What is not released has no date, and is called Forthcoming, as REP 132 has it."""

import re

NOT_RELEASED = "not released yet"
TITLE = re.compile(r"^## (\d+\.\d+\.\d+) \((.+)\)$")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# Code, a link, or a character that means something to reStructuredText.
INLINE = re.compile(r"`(?P<code>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<target>[^)]+)\)|(?P<mark>[\\*|]|_(?!\w))")


def versions(markdown):
    """[(version, date or None, [item])], the latest first; an item is one line of Markdown, that begins with its
    section, as "Fixed: ". ValueError for a title that is none of a version with a date."""
    found, section = [], ""
    for line in markdown.splitlines():
        if line.startswith("## "):
            title = TITLE.match(line)
            if title is None or title[2] != NOT_RELEASED and not DATE.fullmatch(title[2]):
                raise ValueError(f"CHANGELOG.md: {line!r} must be '## <version> ({NOT_RELEASED})', or with a date, as "
                                 "2026-11-22")
            found.append((title[1], None if title[2] == NOT_RELEASED else title[2], []))
            section = ""
        elif line.startswith("### "):
            section = f"{line[4:]}: "
        elif found and line.startswith("- "):
            found[-1][2].append(section + line[2:].strip())
        elif found and line.strip():
            if not found[-1][2]:
                raise ValueError(f"CHANGELOG.md: {line!r} belongs to no item")
            found[-1][2][-1] += " " + line.strip()
    return found


def inline(text):
    """A line of Markdown as reStructuredText. Of a link within the repository, which the reader has not, its text."""
    def one(match):
        if match["mark"]:
            return "\\" + match["mark"]
        if match["code"]:
            made = f"``{match['code'].strip()}``"
        elif re.match(r"https?:", match["target"]):
            made = f"`{match['text'].replace('`', '')} <{match['target']}>`__"
        else:
            return inline(match["text"])
        before, after = text[:match.start()][-1:], text[match.end():][:1]
        # Markup is told by the space or punctuation around it, and a space that is escaped is not shown.
        return "\\ " * before.isalnum() + made + "\\ " * after.isalnum()
    return INLINE.sub(one, text)


def page(package, markdown):
    """The changelog of screw_dynamics, or of the interfaces, whose changes are among those."""
    title = f"Changelog for package {package}"
    lines = ["^" * len(title), title, "^" * len(title), ""]
    for version, date, items in versions(markdown):
        name = f"{version} ({date})" if date else "Forthcoming"
        if package != "screw_dynamics":
            items = [f"Released with screw_dynamics {version}, whose changelog says what changed."]
        lines += [name, "-" * len(name), *(f"* {inline(item)}" for item in items), ""]
    return "\n".join(lines)
