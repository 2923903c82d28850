"""What docs/comparison.md tells of times: texts from Measurements.

They are kept, with what they were measured on, in comparison/measured.json: a page whose counts have changed is written
again without a quiet machine."""
import statistics

from benchmarks import robots

from . import algorithms, targets
from .tables import markdown
from .times import BATCH, ELSEWHERE, ONE, SPECIALIZED, lowest_tenth, ratio, typical


def texts(places, measured, by_targets):
    """{place: its text} of those of the places in the templates, "name; argument; ...", that times fill; measured and
    by_targets: as times.measurements and targets.measurements have them."""
    fill = {"span": lambda *case: span(measured, *case), "fastest": lambda *case: fastest(measured, *case),
            "narrow": lambda *case: narrow(by_targets, *case), "by_target": lambda *case: by_target(by_targets, *case),
            "summary": lambda: summary(measured), "times": lambda: times(measured),
            "targets": lambda: on_targets(by_targets), "note": lambda: ""}
    split = {place: place.split("; ") for place in places}
    return {place: fill[name](*case) for place, (name, *case) in split.items() if name in fill}


def of_robots(measured, quantity, way, specialized=False):
    """The Measurements of a quantity: over the real robots, or over all where they are few."""
    chosen = [m for m in measured if m.subject["quantity"] == quantity and m.subject["way"] == way
              and m.subject["specialized"] == specialized]
    return [m for m in chosen if quantity in ELSEWHERE or m.subject["robot"] in robots.REAL]


def averages(measured, quantity, way, specialized=False):
    """{form: the geometric mean of its ratios to the body-fixed one}."""
    chosen = of_robots(measured, quantity, way, specialized)
    forms = set(algorithms.ALL[quantity]).intersection(*(m.seconds for m in chosen)) if chosen else ()
    return {form: statistics.geometric_mean(ratio(m, form) for m in chosen) for form in algorithms.ALL[quantity]
            if form in forms}


def fastest(measured, quantity, way, specialized=False):
    """The form whose average ratio is least, and that ratio."""
    average = averages(measured, quantity, way, specialized)
    best = min(average, key=average.get, default=None)
    return f"{best} ({average[best]:.2f})" if best else ""


def span(measured, quantity, form, way):
    """The least and the greatest ratio of a form to the body-fixed one."""
    ratios = [ratio(m, form) for m in of_robots(measured, quantity, way)]
    return f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "not measured"


def summary(measured):
    """Average ratios to the body-fixed form."""
    rows = []
    for quantity in dict.fromkeys(m.subject["quantity"] for m in measured):
        for way, specialized in ((ONE, False), (BATCH, False), (ONE, True), (BATCH, True)):
            found = averages(measured, quantity, way, specialized)
            others = ", ".join(f"{form} {value:.2f}" for form, value in sorted(found.items(), key=lambda x: x[1]))
            if found:
                rows.append([quantity, way + f", {SPECIALIZED} specialized" * specialized, others])
    return markdown(["quantity", "way", "time over that of the body-fixed form"], rows).replace("--: |\n", "--- |\n")


def times(measured):
    """Microseconds in body-fixed twists, and the ratios of the others to it."""
    rows = []
    for m in measured:
        subject = m.subject
        name = subject["robot"] + ", specialized" * subject["specialized"]
        ratios = ", ".join(f"{form} {ratio(m, form):.2f}" for form in m.seconds if form != algorithms.BODY)
        rows.append([subject["quantity"], subject["way"], f"{name} ({subject['joints']})",
                     f"{typical(m, algorithms.BODY) * 1e6:.3f}", ratios])
    rows.sort(key=lambda row: (list(algorithms.ALL).index(row[0]), row[1] == BATCH))
    return markdown(["quantity", "way", "robot (joints)", "body, µs", "ratios"], rows)


def narrow(found, quantity, way):
    """The least and the greatest time for the narrow target over that for the wide one, loops of all forms."""
    ratios = [lowest_tenth(seconds[targets.NARROW][form]) / lowest_tenth(seconds[targets.WIDE][form])
              for subject, seconds in found if (subject["quantity"], subject["way"]) == (quantity, way)
              and not subject["specialized"] for form in seconds[targets.WIDE]]
    return f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "not measured"


def by_target(found, target, quantity, form, way):
    """The least and the greatest ratio of a form to the body-fixed one for a target, in loops."""
    ratios = [lowest_tenth(seconds[target][form]) / lowest_tenth(seconds[target][algorithms.BODY])
              for subject, seconds in found if (subject["quantity"], subject["way"]) == (quantity, way)
              and not subject["specialized"]]
    return f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "not measured"


def on_targets(found):
    """Ratios to the body-fixed form for each target, and of one target to the other."""
    rows = []
    for subject, seconds in found:
        name = subject["robot"] + ", specialized" * subject["specialized"]
        typically = {target: {form: lowest_tenth(values) for form, values in of.items()}
                     for target, of in seconds.items()}
        wide, thin = typically[targets.WIDE], typically[targets.NARROW]
        ratios = (", ".join(f"{form} {of[form] / of[algorithms.BODY]:.2f}" for form in of if form != algorithms.BODY)
                  for of in (wide, thin))
        rows.append([subject["quantity"], subject["way"], name, *ratios,
                     f"{statistics.geometric_mean(thin[form] / wide[form] for form in wide):.2f}"])
    return markdown(["quantity", "way", "robot", *(f"{target}: over body" for target in (targets.WIDE, targets.NARROW)),
                     f"{targets.NARROW} over {targets.WIDE}"], rows)
