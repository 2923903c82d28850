"""Some of the faults of `make faults`: both nodes go on, are right again within a second, and say what happened."""

import pytest
from fault_injection import faults  # noqa: F401  it fills the table
from fault_injection.rig import Rig
from fault_injection.run import happen, ready
from fault_injection.table import FAULTS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rig(tmp_path_factory, ros):
    rig = Rig(tmp_path_factory.mktemp("faults"))
    ready(rig)
    yield rig
    assert rig.stop() == []


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.quick], ids=lambda fault: fault.name)
def test_a_fault_is_survived_and_said(rig, fault):
    outcome = happen(rig, fault._replace(within=60.0))   # how fast depends on what else the machine does
    assert outcome.wrong == []
