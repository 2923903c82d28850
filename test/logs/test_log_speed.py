"""Reading takes at most twice what the readers alone take, of the same files in the same process."""
import pytest

from benchmarks.log_readers import contestants, files, main, measured


@pytest.mark.slow
def test_a_recording_takes_at_most_twice_the_time_of_its_messages(tmp_path):
    rates = measured(contestants(files(tmp_path, 4000)), 4000, 3)
    for kind in {kind for kind, _ in rates}:
        alone = max(rate for (of, reader), rate in rates.items() if of == kind and reader != "sd.logs.read")
        assert rates[kind, "sd.logs.read"] > 0.5 * alone, (kind, rates)


def test_the_benchmark_prints_a_row_for_each(capsys):
    main(["--messages", "50", "--repeats", "1"])
    assert capsys.readouterr().out.count("| sd.logs.read |") == 3
