"""The memory of recursions: as much as any of them needs."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.numbers.tables import size
from support.random_trees import GROUPS, KINDS, model_of, random_tree


@pytest.mark.parametrize("of", [KINDS, (*GROUPS, *KINDS)], ids=["joints of one degree", "Lie-group joints"])
@pytest.mark.parametrize("lanes", [1, 8])
def test_tables_of_all_algorithms_fit_with_poses_in_place_of_coordinates(of, lanes):
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(3), joints=4, of=of)))
    memory = ws.workspace(robot.tables, lanes)
    head, slots = ws.header(memory), len(robot.tables.links)
    largest = max(size(ws.placed(Table), slots) for Table, _ in ws._needs)
    assert head.result - head.body >= lanes * largest and len(memory) >= head.work
