"""A robot on a web page: its shapes, joint screws, centers of mass, a slider for each joint of one degree
of freedom, and motions played.

What a URDF shows (`shapes`) and what dynamics knows (`glyphs`), as meshes (`meshes`), placed in a scene (`scene`) of a
page (`page`) that `view` opens, where a motion may be played (`player`). viser, and trimesh which comes with it, are an
extra: imported here alone, and not before a page is opened. May import robot and the packages below it."""
