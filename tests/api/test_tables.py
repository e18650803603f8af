"""Tests of tables, which other libraries read in place."""

import gc
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import dumbbell
from dumbbell import Table
from support.shelf import Shelf

KINDS = {"name": "text", "count": "integer", "size": "number"}
ROWS: list[list[object]] = [["a", 1, 0.5], ["b", None, 1.5], ["a", 3, None], [None, 4, 2.5]]


@pytest.fixture
def results(shelf: Shelf) -> dumbbell.RunResults:
    """Run two flows of two schemes on a small path."""
    return dumbbell.open(shelf.mixes).run(scheme="cubic+copa")


def parquet(shelf: Shelf, name: str) -> pyarrow.Table:
    """Return a file of the run, as another reader of Parquet sees it."""
    return pyarrow.parquet.read_table(shelf.mixes / "runs/lab/cubic+copa/1" / f"{name}.parquet")


def plain(table: pyarrow.Table) -> dict[str, list[Any]]:
    """Return the values, with decoded texts."""
    return {name: [str(v) if isinstance(v, str) else v for v in table[name].to_pylist()] for name in table.column_names}


def test_every_value_is_the_one_in_the_file(results: dumbbell.RunResults, shelf: Shelf) -> None:
    for name, table in (("flows", results.samples()), ("links", results.links())):
        assert plain(pyarrow.table(table)) == plain(parquet(shelf, name))
    stored_table, table = parquet(shelf, "packets"), pyarrow.table(results.packets())
    pairs = stored_table.schema.metadata[b"dumbbell.events"].decode().split(",")
    names = dict(pair.split("=") for pair in pairs)
    assert len(table) == len(stored_table) > 1000
    for column in stored_table.column_names:
        expected = stored_table[column].to_pylist()
        if column == "event":
            expected = [names[str(code)] for code in expected]
        assert table[column].to_pylist() == expected


def test_pyarrow_finds_the_layout_valid(results: dumbbell.RunResults) -> None:
    for table in (results.packets(), results.samples(), results.links(), results.metrics, Table.of(KINDS, ROWS)):
        read = pyarrow.table(table)
        read.validate(full=True)
        assert read.num_rows == len(table)
        assert read.column_names == table.keys()


def test_absent_values_are_absent_everywhere() -> None:
    table = Table.of(KINDS, ROWS)
    assert polars.DataFrame(table).rows() == [tuple(row) for row in ROWS]
    assert pyarrow.table(table).to_pylist() == [dict(zip(KINDS, row, strict=True)) for row in ROWS]
    assert duckdb.from_arrow(table).fetchall() == [tuple(row) for row in ROWS]
    assert list(table.rows()) == [dict(zip(KINDS, row, strict=True)) for row in ROWS]
    assert numpy.isnan(table["size"][2])
    assert table["name"][3] is None
    frame = pandas.DataFrame.from_arrow(table)
    assert frame["count"].isna().tolist() == [False, True, False, False]


def test_polars_pandas_and_duckdb_agree(results: dumbbell.RunResults) -> None:
    packets = results.packets()
    expected = int(packets["size_bytes"][packets["event"] == "deliver"].sum())
    frame = polars.DataFrame(packets)
    assert frame.filter(polars.col("event") == "deliver")["size_bytes"].sum() == expected
    for other in (pandas.DataFrame.from_arrow(packets), pandas.DataFrame(dict(packets))):
        assert other.loc[other["event"] == "deliver", "size_bytes"].sum() == expected
    [(total,)] = duckdb.sql("select sum(size_bytes) from packets where event = 'deliver'").fetchall()
    assert total == expected


def address(values: numpy.ndarray[Any, Any]) -> int:
    """Return the address of an array in memory."""
    position: int = values.__array_interface__["data"][0]
    return position


def test_nobody_copies_the_columns(results: dumbbell.RunResults) -> None:
    packets = results.packets()
    read, frame = pyarrow.table(packets), polars.DataFrame(packets)
    for column in ("time_ns", "flow", "seq", "size_bytes", "one_way_delay_ns"):
        place = address(packets[column])
        assert address(packets[column]) == place  # nor does the table itself
        [chunk] = read[column].chunks
        assert chunk.buffers()[1].address == place
        assert address(frame[column].to_numpy(allow_copy=False)) == place
        assert address(pandas.DataFrame(dict(packets), copy=False)[column].to_numpy()) == place
    [chunk] = read["event"].chunks
    assert chunk.indices.buffers()[1].address == pyarrow.table(packets)["event"].chunks[0].indices.buffers()[1].address


def test_columns_outlive_the_table(results: dumbbell.RunResults) -> None:
    expected = results.packets()["time_ns"].copy()
    read, array = pyarrow.table(results.packets()), results.packets()["time_ns"]
    stream = results.packets().__arrow_c_stream__()
    gc.collect()
    other_tables = [results.packets() for _ in range(5)]  # what is free would be written over
    assert (read["time_ns"].to_numpy() == expected).all()
    assert (array == expected).all()
    del stream, other_tables


def test_a_column_alone_and_all_released_in_any_order() -> None:
    table = Table.of(KINDS, [[f"name {row % 7}", row, row / 3] for row in range(1000)])
    for _ in range(200):
        read = pyarrow.table(table)
        column = read["name"]
        del read
        assert column[13].as_py() == "name 6"
        pyarrow.schema(table)
    assert table["count"].sum() == 499_500


def test_arrays_cannot_be_written_to(results: dumbbell.RunResults) -> None:
    with pytest.raises(ValueError, match="read-only"):
        results.packets()["time_ns"][0] = 1


def test_rows_can_be_chosen(results: dumbbell.RunResults) -> None:
    packets = results.packets()
    lost_packets = packets.where("event", "drop")
    assert 0 < len(lost_packets) == (packets["event"] == "drop").sum()
    assert set(lost_packets.where("flow", 2)["flow"]) == {2}
    assert len(packets.where("flow", 77)) == 0
    assert len(packets.where("event", "enqueue")) == 0  # a name of the log, but of nothing in it


def test_choosing_what_there_is_not_says_what_there_is(results: dumbbell.RunResults) -> None:
    packets = results.packets()
    for choose, message in (
        (lambda: packets["tiem_ns"], "no column `tiem_ns` (did you mean `time_ns`?): there are time_ns, flow, event"),
        (lambda: packets.where("event", "dorp"), "unknown event `dorp` (did you mean `drop`?): allowed are send,"),
        (lambda: packets.where("seq", 1), "`seq` = 1: rows can be chosen by a text, or by the number of a flow"),
        (lambda: packets.where("flow", "1"), "`flow` = '1': rows can be chosen by"),
        (lambda: packets.where("flow", -1), "`flow` = -1: rows can be chosen by"),
    ):
        with pytest.raises(dumbbell.Error) as caught:
            choose()
        assert str(caught.value).startswith(message)


def test_a_notebook_shows_the_first_rows() -> None:
    _repr_html_ = Table.of({"<b>": "text", "x": "number"}, [["a & b", 1 / 3]] * 12)._repr_html_()
    assert _repr_html_.count("<tr>") == 11
    assert "&lt;b&gt;" in _repr_html_
    assert "<td>a &amp; b</td><td>0.333333</td>" in _repr_html_
    assert "10 of 12 rows" in _repr_html_


def test_a_table_without_rows(tmp_path: Path) -> None:
    table = Table.of(KINDS, [])
    assert len(table) == 0
    assert pyarrow.table(table).num_rows == 0
    assert polars.DataFrame(table).columns == list(KINDS)
