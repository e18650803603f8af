"""What users write with the library: `test_user_types.py` has type checkers read it, strictly; nothing runs it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_type

import gymnasium
import numpy
import polars
from numpy.typing import NDArray

import dumbbell
import dumbbell_calibrate
import dumbbell_gym
import dumbbell_reproduce
from dumbbell.plugins import Ack, Control, Loss, Start


def run_with_groups(out: Path) -> dumbbell.Results:
    """Every group of arguments of `dumbbell.run`, names and objects side by side."""
    path = dumbbell.make_path(rate="20mbit", rtt="40ms", queue="1bdp", loss="0.1%")
    gentle = replace(dumbbell.schemes().find("copa"), name="gentle", parameters={"delta": "0.1"})
    try:
        return dumbbell.run(
            schemes=["cubic", gentle, "./mine.py"],
            path=[path, "default", out / "lab.toml"],
            mixes="cubic*2+bbr",
            backend="remote:lab",
            duration=5,
            remote=dumbbell.Remote(sender="remote", udp_ports="40000-40009"),
            campaign=dumbbell.Campaign(every=3600, lasts=86400),
            budget=dumbbell.Budget(disk_bytes=10**10, bandwidth_mbps=5),
            settings={"copa.delta": 0.1, "warmup_s": 2},
            out=out,
        )
    except dumbbell.Interrupted as stop:
        print(stop.outcome.finished, "runs are in", stop.directory)
        return dumbbell.open(stop.directory)
    except (dumbbell.Untrusted, dumbbell.Error) as error:
        raise SystemExit(str(error)) from None


def run_an_experiment_of_ones_own() -> dumbbell.Results:
    """An experiment that no file has."""
    lab = dumbbell.PathModel(
        name="lab",
        title="20 Mbit/s, 40 ms",
        data=[{"kind": "link", "rate_mbps": 20.0, "queue": {"kind": "droptail", "bytes": 100_000}}],
        ack=[{"kind": "delay", "delay_ms": 40.0}],
    )
    flows = (dumbbell.FlowPlan("cubic"), dumbbell.FlowPlan("bbr", start_s=2.0))
    file = dumbbell.ExperimentFile(
        name="two", schemes=["cubic"], paths=["lab"], own_paths={"lab": lab}, flow=flows, duration_s=4.0
    )
    expected = dumbbell.preview(file)
    print(expected.seconds, [cell.seconds for cell in expected.cells])
    return dumbbell.run(dumbbell.ExperimentFile.from_toml(file.to_toml()), jobs=1)


def read_tables(directory: str) -> float:
    """Numbers, packets and samples, with the libraries that users have."""
    results = dumbbell.open(directory, convention="pantheon").only(schemes=["cubic", "bbr"])
    assert_type(results.metrics, dumbbell.Table)
    frame = polars.DataFrame(results.packets(scheme="copa", flow=1))
    columns = dict(results.samples(field="cwnd"))
    print(frame.height, columns["value"].max())
    delays: NDArray[Any] = results.packets(scheme="copa").where("event", "deliver")["one_way_delay_ns"]
    print(float(numpy.quantile(delays, 0.95)) / 1e6, "ms")
    for row in results.means(["goodput_mbps"]).rows():
        print(row["scheme"], row["goodput_mbps"])
    best = results.summary(sort="owd_p95_ms")[0].estimate(("network", 0, "owd_p95_ms"))
    for check, lines in results.faults():
        print(check.label, lines)
    return best.mean if best is not None else float("nan")


def read_runs(results: dumbbell.Results) -> dict[str, float]:
    """One run after the other."""
    goodputs: dict[str, float] = {}
    for run in results.runs:
        assert_type(run, dumbbell.RunResults)
        if run.status != "done":
            print(run.label, run.reason)
            continue
        goodputs[run.scheme] = run.statistics["network"].get("goodput_mbps") or 0.0
        transfers = run.transfers(1.0)
        print(run.seed, run.specification["duration_s"], run.notes, run.axes, transfers is None)
    return goodputs


def draw(results: dumbbell.Results, folder: Path) -> list[Path]:
    """Figures as files, their numbers, and the report."""
    figure = results.figure("means", x="mean_srtt_ms", y="utilization", size="1col", font_pt=8, theme="print")
    assert_type(figure, dumbbell.Figure)
    figure.data.save(folder / "means.csv")
    files = [figure.save(folder / "means.pdf"), results.run(scheme="copa").figure("delay").save("delay.svg")]
    return [*files, *results.write_report(pdf=False), *dumbbell.write_report(results.directory)]


class Gentle:
    """A controller in Python."""

    FIELDS: Mapping[str, str] = {"window": "bytes"}

    def __init__(self, start: Start, increase: float = 1.0) -> None:
        self.mss = start.mss_bytes
        self.window = float(start.initial_window_bytes)
        self.increase = increase

    def on_ack(self, ack: Ack) -> None:
        self.window += self.increase * self.mss * ack.acked_bytes / self.window

    def on_loss(self, loss: Loss) -> None:
        if loss.new_episode:
            self.window = max(self.window / 2, 2.0 * self.mss)

    def control(self) -> Control:
        return Control(self.window, 1.25 * 8 * self.window)

    def fields(self) -> dict[str, float]:
        return {"window": self.window}


def simulate_in_memory() -> float:
    """A run that leaves no file, watched."""
    specification = dumbbell.specification("bbr", "california-mexico", duration=3, seed=7)
    specification["path"]["data"].append({"kind": "loss", "probability": 0.01})

    def watch(time_s: float, flows: dict[int, dict[str, float]], links: dict[str, dict[str, float]]) -> None:
        if time_s > 1.0 and flows[1]["cwnd"] > 200:
            raise RuntimeError(f"{len(links)} links")

    run = dumbbell.simulate(specification, watch)
    assert_type(run, dumbbell.RunResults)
    print(dumbbell.controller_cost("cubic").ns_per_ack)
    return len(run.packets().where("event", "lost")) / 3


async def simulate_beside_others() -> dumbbell.RunResults:
    """A run in a thread of its own."""
    return await dumbbell.simulate_async(dumbbell.specification("reno", duration=2))


def act() -> float:
    """An agent's episode, by the class and by Gymnasium's registry."""
    env = dumbbell_gym.CongestionEnv("default", policy="indigo", reward={"ack_mbps": 1.0}, duration_s=5)
    observation, info = env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        observation, reward, is_terminated, is_truncated, info = env.step(env.action_space.sample())
        total, over = total + reward, is_terminated or is_truncated
    print(observation.shape, info["episode"], env.run().figure("throughput").svg)
    make: gymnasium.Env[Any, Any] = gymnasium.make("dumbbell/Congestion-v0", path="default")
    environments = dumbbell_gym.CongestionVectorEnv(
        "default", num_envs=64, policy=dumbbell_gym.Policy(("latency_ratio",))
    )
    observations, _ = environments.reset(seed=1)
    observations, rewards, _, _, _ = environments.step(environments.action_space.sample())
    print(make.reset(seed=1)[1], observations.shape, rewards.mean())
    return total


def calibrate(target: Path) -> dumbbell.PathModel:
    """The path behind measured results."""
    calibrate_path = dumbbell_calibrate.calibrate_path(
        target, "found.toml", schemes=["cubic", "bbr"], stands_for={"kernel-bbr": "bbr"}
    )
    assert_type(calibrate_path, dumbbell_calibrate.CalibratedPath)
    held_out = calibrate_path.held_out_error
    print(
        calibrate_path.in_sample_error,
        "unknown" if held_out is None else f"{held_out:.1f} %",
        calibrate_path.model.name,
    )
    calibrate_path.save("found.toml")
    return calibrate_path.path


def reproduce(source: Path) -> None:
    """Measured runs beside simulated ones."""
    reproduction = dumbbell_reproduce.reproduce(source, "made", runs=3, hold_out="cubic", path="default")
    assert_type(reproduction, dumbbell_reproduce.Reproduction)
    for name, score in reproduction.scores.items():
        print(name, score.as_json())
    print(reproduction.findings(), reproduction.table().caption, reproduction.save("made"))


def compare(first: dumbbell.Results, other: Path) -> list[str]:
    """Two results side by side."""
    rows = dumbbell.compare(first, other, ["goodput_mbps"])
    worse = [str(row["verdict"]) for row in rows if row["difference"] is not None and row["difference"] < 0]
    import_results = dumbbell.import_results("pantheon", "measured", "imported")
    return [*worse, *import_results.tested, *(check.name for check in dumbbell.doctor() if not check.good)]
