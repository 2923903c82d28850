"""The page in a real browser: it loads, shows the robot, and follows what a person does."""
import importlib.util
import io
import shutil
import time

import numpy as np
import pytest

import screw_dynamics as sd
from support.paths import URDF

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = [name for name in ("viser", "playwright") if importlib.util.find_spec(name) is None] + (
    ["chromium"] if BROWSER is None else [])
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"a browser's test needs {' and '.join(MISSING)}, not installed")
PATIENCE = 120.0    # s; a software renderer beside other load


@pytest.fixture(scope="module")
def page():
    """The page of an arm, and the browser's view of it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, sd.view(sd.Robot.from_urdf(URDF / "spherical_arm.urdf"), port=8400) as view:
        # No graphics card: WebGL in software.
        browser = playwright.chromium.launch(executable_path=BROWSER, args=[
            "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
            "--ignore-gpu-blocklist"])
        tab = browser.new_page(viewport={"width": 680, "height": 400})
        tab.faults = []
        tab.on("pageerror", lambda error: tab.faults.append(str(error)))
        tab.goto(view.url)
        tab.wait_for_selector("canvas", timeout=1000 * PATIENCE)
        tab.add_style_tag(content=".mantine-Notifications-root { display: none !important }")
        tab.view = view
        yield tab
        browser.close()
        assert tab.faults == []


def picture(page):
    """The left part of the page (h, w, 3), where the panel is not."""
    import imageio.v3 as imageio

    shot = page.screenshot(clip={"x": 0, "y": 0, "width": 340, "height": 400})
    return imageio.imread(io.BytesIO(shot))[..., :3].astype(int)


def settled(page, differs_from=None):
    """The picture once it differs from another in more than a few pixels, and has ceased to change."""
    end, last = time.monotonic() + PATIENCE, picture(page)
    while time.monotonic() < end:
        page.wait_for_timeout(200)
        now = picture(page)
        still = changed(now, last) < 20
        if still and shapes_are_shown(now) and (differs_from is None or changed(now, differs_from) > 200):
            return now
        last = now
    pytest.fail(f"the page's picture did not change within {PATIENCE} s")


def changed(a, b):
    """The number of pixels in which two pictures differ visibly."""
    return int((np.abs(a - b).max(axis=2) > 24).sum())


def shapes_are_shown(picture):
    """Whether the floor is not all: the blue of the screws of joints that turn."""
    r, g, b = np.moveaxis(picture, 2, 0)
    return ((b > r + 80) & (b > g + 30)).sum() > 30


def test_the_robot_is_seen_with_its_panel(page):
    settled(page)
    for text in "3 joints, 9.5 kg", "joint screws", "waist", "lift", "slide":
        assert page.get_by_text(text, exact=False).first.is_visible(), text
    assert page.get_by_role("button", name="reset", exact=True).is_visible()


def test_a_slider_moves_the_robot(page):
    before = settled(page)
    page.get_by_role("slider").first.focus()
    page.keyboard.press("End")
    moved = settled(page, before)
    assert page.view.q[0] == pytest.approx(np.pi) and not page.view.q[1:].any()
    page.get_by_role("button", name="reset", exact=True).click()
    again = settled(page, moved)
    assert changed(again, before) < 0.1 * changed(moved, before) and not page.view.q.any()


def test_a_checkbox_hides_the_shapes(page):
    before = settled(page)
    page.locator("input[type=checkbox]:visible").first.click()
    bare = settled(page, before)
    assert not any(handle.visible for handle in page.view.scene.layers["visual"])
    page.locator("input[type=checkbox]:visible").first.click()
    settled(page, bare)


def test_a_motion_is_seen_to_move(page):
    before = settled(page)
    t, q = np.array([0.0, 1.0]), np.array([[0.0, 0.0, 0.0], [1.5, 1.0, 0.3]])
    page.view.play(t, q, loop=False)
    settled(page, before)
    assert page.view.q == pytest.approx(q[-1])
    assert page.get_by_role("button", name="play", exact=True).is_visible()
