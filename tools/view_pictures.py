"""Makes the pictures of docs/viewing.md: the page of a Panda in a headless Chromium, and the plot of its fall.

python tools/view_pictures.py, with the extras view, plot and robots, playwright (pip) and a Chromium (apt)."""
import shutil
import sys
import warnings
from importlib.metadata import files
from pathlib import Path

import numpy as np

import screw_dynamics as sd
from screw_dynamics.viewer.page import View

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = {"width": 1280, "height": 760}
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
POSE = np.array([0.3, -0.5, 0.0, -2.0, 0.0, 1.8, 0.7, 0.02])


def robot(name: str) -> sd.Robot:
    """A robot of example-robot-data by the end of its path."""
    found = next(file.locate() for file in files("example-robot-data") if str(file).endswith(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sd.Robot.from_urdf(found)


def photograph(view: View, path: Path) -> None:
    """Write what a browser shows of a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SOFTWARE)
        page = browser.new_page(viewport=SIZE)
        page.goto(view.url)
        page.wait_for_selector("canvas")
        page.add_style_tag(content=".mantine-Notifications-root { display: none !important }")
        last = b""
        while last != (last := page.screenshot()) or len(last) < 60_000:    # until it is all there, and still
            page.wait_for_timeout(1000)
        path.write_bytes(last)
        browser.close()


def main(arguments: list[str]) -> None:
    """Make them, in docs/images or in the folder that is named."""
    folder = Path(arguments[0]) if arguments else IMAGES
    panda = robot("panda_description/urdf/panda.urdf")
    with sd.view(panda, q=POSE, port=8500) as view:
        view.layer("efforts")
        photograph(view, folder / "view.png")
    t, q, qd = panda.rollout(POSE, np.zeros(panda.n), steps=1500, every=5, friction=True, limits=True)
    panda.plot(t, q, qd, path=folder / "plot.png")


if __name__ == "__main__":
    main(sys.argv[1:])
