"""Tables: Parquet files of ours, bit for bit, and tables of others, CSV, Parquet and NumPy."""
import hashlib
import json

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import screw_dynamics as sd
from support.logged import START, mcap, states


def everything(rng, k=20):
    """A recording of all that there is, with numbers that only their bits tell apart."""
    def random(*shape):
        x = rng.standard_normal(shape)
        x.flat[::7] = (np.nan, -0.0, np.inf, 5e-324)[len(shape) % 4]
        return x
    q = random(k, 3)
    q.view(np.uint64)[1, 1] = 0x7FF8_0000_0000_1234         # another NaN
    return sd.logs.Recording(
        ("a.b", "c d", "é"), np.cumsum(rng.uniform(0.001, 0.1, k)), q, random(k, 3), random(k, 3), start=START,
        commands={"effort": random(k, 3), "position": random(k, 3)},
        base=sd.logs.Base(random(k, 7), random(k, 6), "world", "body"),
        wrenches={"tool": (np.sort(rng.uniform(size=5)), random(5, 6)), "no": (np.zeros(0), np.zeros((0, 6)))},
        imu={"chest": (np.sort(rng.uniform(size=4)), random(4, 3), random(4, 3))}, description="<robot>é</robot>",
        source="x.mcap", topics={"joint_states": "/joint_states"}, breaks=(4, 9),
        notes=sd.logs.Notes([("gap", "é", 3)]))


def bits(recording):
    """All that it holds, arrays by their bytes."""
    base = recording.base
    arrays = [recording.t, recording.q, recording.qd, recording.tau, *recording.commands.values()]
    arrays += [x for sensors in (recording.wrenches, recording.imu) for each in sensors.values() for x in each]
    arrays += [] if base is None else [base.q, base.twist]
    rest = (recording.joints, recording.start, list(recording.commands), base and (base.frame, base.link),
            list(recording.wrenches), list(recording.imu), recording.description, recording.source, recording.topics,
            recording.breaks, list(recording.notes))
    return [(x.shape, np.ascontiguousarray(x).tobytes()) for x in arrays], rest


def test_what_is_written_is_read_back_bit_for_bit(tmp_path, rng):
    recording = everything(rng)
    address = sd.logs.write(recording, tmp_path / "new" / "x.parquet")
    assert bits(sd.logs.read(address)) == bits(recording)
    plain = sd.logs.Recording(("a",), [0.0], [[1.0]])
    assert bits(sd.logs.read(sd.logs.write(plain, address))) == bits(plain)         # in place of the other
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x.parquet"]


def test_other_programs_find_columns_units_and_where_it_comes_from(tmp_path, rng):
    recording = everything(rng)
    table = parquet.read_table(sd.logs.write(recording, tmp_path / "x.parquet"))
    assert table.column_names[:4] == ["t", "q.a.b", "q.c d", "q.é"]
    assert np.array_equal(table.column("tau.c d").to_numpy(), recording.tau[:, 1], equal_nan=True)
    assert table.schema.field("tau.c d").metadata[b"unit"] == b"N m or N"
    said = json.loads(table.schema.metadata[b"screw_dynamics"])
    assert said["source"] == "x.mcap" and said["notes"] == [["gap", "é", 3]] and said["start"] == START
    assert said["description_sha256"] == hashlib.sha256("<robot>é</robot>".encode()).hexdigest()


def test_recordings_are_converted_to_any_file_system(tmp_path):
    path = mcap(tmp_path / "run.one.mcap", states()[0])
    read = sd.logs.read(path)
    assert sd.logs.convert(path, tmp_path / "out") == str(tmp_path / "out" / "run.one.parquet")
    assert bits(sd.logs.read(tmp_path / "out" / "run.one.parquet")) == bits(read)
    try:
        address = sd.logs.convert(path, "memory://converted", topics={"commands": None})
        assert address == "memory://converted/run.one.parquet" and bits(sd.logs.read(address)) == bits(read)
        assert len(fsspec.filesystem("memory").ls("/converted")) == 1
    finally:
        fsspec.filesystem("memory").rm("/converted", recursive=True)
    mcap(tmp_path / "other.mcap", states()[0])
    with pytest.raises(ValueError, match="holds 3 episodes"):
        sd.logs.convert(tmp_path, tmp_path / "out")


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path, rng, monkeypatch):
    recording = everything(rng)
    with pytest.raises(ValueError, match="must end in .parquet"):
        sd.logs.write(recording, tmp_path / "x.csv")
    with pytest.raises(ValueError, match="has no samples"):
        sd.logs.write(sd.logs.Recording(("a",), [], np.zeros((0, 1))), tmp_path / "x.parquet")
    before = sd.logs.write(recording, tmp_path / "x.parquet")

    def full(*_, **__):
        raise OSError(28, "no space left on device")
    monkeypatch.setattr(parquet, "write_table", full)
    with pytest.raises(OSError, match="No space left on device"):
        sd.logs.write(sd.logs.Recording(("a",), [0.0], [[1.0]]), before)
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]
    assert bits(sd.logs.read(before)) == bits(recording)


def test_a_file_of_a_later_version_is_refused(tmp_path):
    address = sd.logs.write(sd.logs.Recording(("a",), [0.0], [[1.0]]), tmp_path / "x.parquet")
    table = parquet.read_table(address)
    said = json.loads(table.schema.metadata[b"screw_dynamics"]) | {"version": 99}
    parquet.write_table(table.replace_schema_metadata({b"screw_dynamics": json.dumps(said).encode()}), address)
    with pytest.raises(ValueError, match="x.parquet has version 99"):
        sd.logs.read(address)


# ------------------------------------------------------------------------------------------------- of others
HEADS = [("t", "q.arm", "q.hand", "tau.arm"), ("time", "arm_position", "hand_position", "arm_effort"),
         ("__time", "/joint_states/arm/position", "/joint_states/hand/position", "/joint_states/arm/effort"),
         ("Timestamp", "pos arm", "pos hand", "torque arm")]


@pytest.mark.parametrize("head", HEADS)
def test_csv_with_names_that_say_what_columns_are(head, tmp_path):
    (tmp_path / "x.csv").write_text(",".join([*head, "mode"]) + "\n5.0,1,2,3,a\n5.5,4,,6,b\n6.0,nan,8,9,c\n")
    recording = sd.logs.read(tmp_path / "x.csv")
    assert recording.joints == ("arm", "hand") and recording.t.tolist() == [0.0, 0.5, 1.0]
    assert recording.start == 5 * 10**9 and np.isnan(recording.qd).all()
    assert np.array_equal(recording.q, [[1, 2], [4, np.nan], [np.nan, 8]], equal_nan=True)
    assert np.array_equal(recording.tau[:, 0], [3, 6, 9]) and np.isnan(recording.tau[:, 1]).all()
    assert list(recording.notes) == [("not read", "column mode", 1)]


def test_columns_are_named_where_their_names_do_not_say_it(tmp_path):
    (tmp_path / "x.csv").write_text("zeit,winkel,moment\n0,1,2\n1,3,4\n")
    with pytest.raises(ValueError, match="no column is a time; it has zeit, winkel, moment"):
        sd.logs.read(tmp_path / "x.csv")
    columns = {"t": "zeit", "q": {"arm": "winkel"}, "tau": {"arm": "moment"}}
    assert sd.logs.read(tmp_path / "x.csv", columns=columns).tau.tolist() == [[2.0], [4.0]]
    for wrong, said in (({"t": "time", "q": {}}, "no column 'time'"), ({"t": "zeit", "x": {}}, "must be one of t, q"),
                        ({"t": "zeit", "x": "winkel"}, r"columns\['x'\]: must be one of t, q"),
                        ({"t": "zeit", "q": "winkel"}, r"columns\['q'\] must be \{joint: column\}, not 'winkel'"),
                        ("zeit", "columns 'zeit' must be as")):
        with pytest.raises(ValueError, match=said):
            sd.logs.read(tmp_path / "x.csv", columns=wrong)


@pytest.mark.parametrize("head", ["t,/left/arm/position,/right/arm/position", "t,q.arm,arm_position"])
def test_two_columns_of_a_joint_are_not_one(head, tmp_path):
    (tmp_path / "x.csv").write_text(f"{head}\n0,1,2\n1,3,4\n")
    one, other = head.split(",")[1:]
    with pytest.raises(ValueError, match=f"columns '{one}' and '{other}' are both q of joint 'arm': name one by"):
        sd.logs.read(tmp_path / "x.csv")
    assert sd.logs.read(tmp_path / "x.csv", columns={"t": "t", "q": {"arm": other}}).q.tolist() == [[2.0], [4.0]]


def test_roles_that_do_not_exist_are_refused_of_tables_too(tmp_path):
    (tmp_path / "x.csv").write_text("t,q.a\n0,1\n")
    for wrong, said in (({"joint_state": "/x"}, "role 'joint_state' must be one of"), ("/x", "topics '/x' must be")):
        with pytest.raises(ValueError, match=said):
            sd.logs.read(tmp_path / "x.csv", wrong)


def test_rows_whose_time_does_not_go_on_are_dropped_and_gaps_are_interruptions(tmp_path):
    (tmp_path / "x.csv").write_text("t,q.a\n" + "".join(
        f"{t},{i}\n" for i, t in enumerate((0, 1, 2, 2, 1.5, "", 3, 4, 99, 100))))
    recording = sd.logs.read(tmp_path / "x.csv")
    assert recording.q[:, 0].tolist() == [0, 1, 2, 6, 7, 8, 9] and recording.breaks == (5,)
    assert recording.notes.counts == {"no stamp": 1, "late": 2, "gap": 1, "lost samples": 94}


def test_dates_are_times(tmp_path):
    stamps = pa.array([START, START + 10**6, START + 3 * 10**6], pa.timestamp("ns"))
    parquet.write_table(pa.table({"stamp": stamps, "position.a": [1.0, 2.0, 3.0], "vel.a": pa.array([1, None, 3])}),
                        tmp_path / "x.parquet")
    recording = sd.logs.read(tmp_path / "x.parquet")
    assert recording.start == START and recording.t == pytest.approx([0.0, 0.001, 0.003], abs=1e-12)
    assert np.array_equal(recording.qd[:, 0], [1.0, np.nan, 3.0], equal_nan=True)


def test_columns_that_are_no_numbers_are_refused_by_name(tmp_path):
    (tmp_path / "x.csv").write_text("t,q.a\n0,left\n1,right\n")
    with pytest.raises(ValueError, match="column 'q.a' is string, not numbers"):
        sd.logs.read(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("t,q.a\nnoon,1\n")
    with pytest.raises(ValueError, match="times in column 't' are string"):
        sd.logs.read(tmp_path / "x.csv")


def test_arrays_of_numpy(tmp_path, rng):
    q = rng.standard_normal((4, 2))
    np.savez(tmp_path / "x.npz", time=[7.0, 7.1, 7.2, 7.2], position=q, torque=2.0 * q, names=["a", "b"])
    recording = sd.logs.read(tmp_path / "x.npz")
    assert recording.joints == ("a", "b") and np.array_equal(recording.tau, 2.0 * q[:3])
    assert recording.t[0] == 0.0 and recording.start == 7 * 10**9 and recording.notes.counts == {"late": 1}
    np.savez(tmp_path / "x.npz", t=[1.0], q=[[1.0]])
    with pytest.raises(ValueError, match="x.npz has no array 'joints'; it has t, q"):
        sd.logs.read(tmp_path / "x.npz")


def test_nanoseconds_are_no_seconds(tmp_path):
    """A number a nanosecond, as many write it: a motion of 4 ms would last for weeks."""
    t, q = 1_700_000_000 * 10**9 + np.arange(5) * 10**6, np.zeros(5)
    parquet.write_table(pa.table({"timestamp": t, "q.a": q}), tmp_path / "x.parquet")
    np.savez(tmp_path / "x.npz", t=t, q=q[:, None], joints=["a"])
    for file, where in (("x.parquet", "column 'timestamp'"), ("x.npz", "array 't'")):
        with pytest.raises(ValueError, match=rf"{file}: the times in {where} begin at 1.7e\+18, .* must be in seconds"):
            sd.logs.read(tmp_path / file)


def test_without_the_extra_the_package_is_named(tmp_path, monkeypatch):
    import builtins
    importing = builtins.__import__

    def without(name, *rest):
        if name.startswith("mcap"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return importing(name, *rest)
    path = mcap(tmp_path / "x.mcap", states(3)[0])
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"requires mcap.*pip install 'screw_dynamics\[logs\]'"):
        sd.logs.read(path)


@pytest.mark.parametrize(("address", "said"), [("nowhere.mcap", "nowhere.mcap does not exist"),
                                                ("notes.txt", "notes.txt is not a recording: its name must end in")])
def test_what_is_no_recording_is_refused(address, said, tmp_path):
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(ValueError, match=said):
        sd.logs.read(tmp_path / address)
