"""Visualization of a robot on a web page: shapes, joint screws, centers of mass, sliders for single-DoF joints, and
playback of motions.

Shapes of a URDF (`shapes`) and of dynamic quantities (`glyphs`) become meshes (`meshes`) in a scene (`scene`) on a page
(`page`). `view` opens the page and may play a motion (`player`). viser, an extra, and its dependency trimesh are
imported only here, when a page is opened. May import robot and the packages below it."""
