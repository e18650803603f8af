"""Environments: Gymnasium's and PettingZoo's own checks, determinism, and Indigo decided for from outside."""

import hashlib
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell.catalog.path import PathModel

pytest.importorskip("gymnasium", reason="gymnasium is not installed: `make test` does it")

from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import dumbbell_gym as gym

ROOT = Path(__file__).parents[2]


def link(**changes: str) -> PathModel:
    return dumbbell.make_path(**{"rate": "12mbit", "rtt": "60ms", "queue": "60p"} | changes)


QUICK = gym.Policy(("latency_ratio", "send_ratio", "loss_ratio"), 3, "cwnd_mult2:1", "time_ms:20")
VARIED: dict[str, Any] = {
    "vary": {
        "rate_mbps": gym.LogUniform(1, 20),
        "rtt_ms": (10, 80),
        "queue_bdp": (0.2, 2.0),
        "loss": gym.Uniform(0, 0.02, zero=0.5),
    },
    "background": ["cubic", "bbr"],
    "background_count": gym.Choice([0, 1, 2]),
}


@pytest.mark.parametrize(
    "make",
    [
        lambda: gym.CongestionEnv(link(), policy=QUICK, duration_s=2, **VARIED),
        lambda: gym.CongestionEnv(link(), policy="indigo", reward="log_power", duration_s=2),
        lambda: gym.CongestionEnv(link(), policy="like-orca", reward="orca", duration_s=2, render_mode="rgb_array"),
        lambda: gym.CongestionEnv(link(), policy="aurora", duration_s=2),
        lambda: gym.CongestionEnv(link(), policy="orca", duration_s=1),
        lambda: gym.CongestionEnv(
            link(), policy="like-aurora", max_steps=30, reward={"ack_mbps": 1.0, "rtt_ms": -0.01}
        ),
    ],
)
def test_gymnasium_checks_it(make: Callable[[], gym.CongestionEnv]) -> None:
    with warnings.catch_warnings():
        # The check leaves out the construction by name; Indigo has no bounds of its own.
        warnings.filterwarnings("ignore", message=".*(spec|symmetric|render).*")
        check_env(make(), skip_render_check=True)


def test_gymnasium_makes_it_by_name() -> None:
    import gymnasium

    env = gymnasium.make("dumbbell/Congestion-v0", path=link(), policy=QUICK, duration_s=1)
    env.reset(seed=1)
    vector = gymnasium.make_vec(
        "dumbbell/Congestion-v0", num_envs=3, vectorization_mode="vector_entry_point", path=link(), policy=QUICK
    )
    assert vector.reset(seed=1)[0].shape == (3, 9)


def test_pettingzoo_checks_it() -> None:
    pytest.importorskip("pettingzoo", reason="pettingzoo is not installed: `make test` does it")
    from pettingzoo.test import parallel_api_test

    parallel_api_test(gym.CongestionParallelEnv(link(), flows=3, policy=QUICK, duration_s=2), num_cycles=60)
    parallel_api_test(gym.CongestionParallelEnv(link(), flows=2, policy="indigo", duration_s=2), num_cycles=60)


def all_seen(threads: int, *, count: int = 12, steps: int = 80, **changes: object) -> str:
    """Return a hash of all outputs of `count` environments during a fixed series of actions."""
    settings: dict[str, Any] = {"duration_s": 0.8} | VARIED | changes
    environments = gym.CongestionVectorEnv(link(), num_envs=count, threads=threads, policy=QUICK, **settings)
    observations, _ = environments.reset(seed=5)
    digest = hashlib.sha256(observations.tobytes())
    draws = np.random.default_rng(1)
    for _ in range(steps):
        observations, rewards, are_terminated, are_truncated, _ = environments.step(draws.uniform(-1, 1, (count, 1)))
        for array in (
            observations,
            rewards,
            are_terminated,
            are_truncated,
            environments.environments.values,
            environments.environments.oracle,
        ):
            digest.update(array.tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_the_number_of_threads_changes_nothing(mode: AutoresetMode) -> None:
    alone = all_seen(1, autoreset_mode=mode)
    assert alone == all_seen(3, autoreset_mode=mode) == all_seen(1, autoreset_mode=mode)
    assert alone != all_seen(1, autoreset_mode=mode, duration_s=0.6)


def test_an_environment_among_many_is_as_alone() -> None:
    environments = gym.CongestionVectorEnv(link(), num_envs=3, policy=QUICK, duration_s=1, **VARIED)
    alone = gym.CongestionEnv(link(), policy=QUICK, duration_s=1, **VARIED)
    assert np.array_equal(environments.reset(seed=7)[0][2], alone.reset(seed=9)[0])
    for action in (0.5, -0.25, 1.0, -1.0):
        together, rewards, *_ = environments.step(np.full((3, 1), action))
        observation, reward, *_ = alone.step([action])
        assert np.array_equal(together[2], observation)
        assert rewards[2] == reward


def episodes(mode: AutoresetMode, steps: int) -> list[tuple[Any, ...]]:
    """Return the steps of two environments with episodes of five and more decisions."""
    environments = gym.CongestionVectorEnv(link(), num_envs=2, policy=QUICK, max_steps=5, autoreset_mode=mode)
    steps_seen = [(environments.reset(seed=1)[0], None, None, None, {})]
    steps_seen += [environments.step(np.zeros((2, 1))) for _ in range(steps)]
    return steps_seen


def test_the_next_step_begins_the_next_episode() -> None:
    steps = episodes(AutoresetMode.NEXT_STEP, 8)
    assert [bool(step[3].all()) for step in steps[1:]] == [False] * 4 + [True] + [False] * 3
    assert (steps[6][1] == 0).all(), "a reset is rewarded by nothing"
    assert not np.array_equal(steps[5][0], steps[6][0])
    assert (steps[6][4]["step"]["t_s"] < steps[5][4]["step"]["t_s"]).all()
    assert steps[5][4]["episode"]["l"].tolist() == [5, 5]
    assert steps[5][4]["_episode"].all()
    total = sum(step[1] for step in steps[1:6])
    assert np.allclose(steps[5][4]["episode"]["r"], total)
    assert "episode" not in steps[6][4]


def test_the_same_step_begins_the_next_episode() -> None:
    next_step, same_step = episodes(AutoresetMode.NEXT_STEP, 8), episodes(AutoresetMode.SAME_STEP, 8)
    assert same_step[5][3].all()
    assert np.array_equal(np.stack(same_step[5][4]["final_obs"]), next_step[5][0])
    assert np.array_equal(same_step[5][0], next_step[6][0])
    assert np.array_equal(same_step[6][0], next_step[7][0])
    assert np.array_equal(same_step[5][1], next_step[5][1])


def test_without_autoreset_somebody_has_to() -> None:
    environments = gym.CongestionVectorEnv(
        link(), num_envs=2, policy=QUICK, max_steps=3, autoreset_mode=AutoresetMode.DISABLED
    )
    first = environments.reset(seed=1)[0]
    for _ in range(3):
        observations, _, _, are_truncated, _ = environments.step(np.zeros((2, 1)))
    assert are_truncated.all()
    with pytest.raises(dumbbell.Error, match=r"environments \[0, 1\]: their episodes are over"):
        environments.step(np.zeros((2, 1)))
    first_observations, _ = environments.reset(options={"reset_mask": np.array([True, False])})
    assert np.array_equal(first_observations[1], observations[1])
    assert not np.array_equal(first_observations[0], observations[0])
    again, _ = environments.reset(seed=1, options={"reset_mask": np.array([True, True])})
    assert np.array_equal(again, first)


def test_without_copies_the_arrays_are_the_core_s_memory() -> None:
    environments = gym.CongestionVectorEnv(link(), num_envs=2, policy=QUICK, copy=False)
    first, _ = environments.reset(seed=1)
    second, *_ = environments.step(np.ones((2, 1)))
    assert first is second
    assert np.shares_memory(np.from_dlpack(second), second)
    kept_environments = gym.CongestionVectorEnv(link(), num_envs=2, policy=QUICK)
    assert not np.shares_memory(kept_environments.reset(seed=1)[0], kept_environments.step(np.ones((2, 1)))[0])


class Indigo:
    """The released network, evaluated by numpy: kernels [41, 128] and [32, 5], gates as in TensorFlow."""

    def __init__(self) -> None:
        data = (ROOT / "python/dumbbell/catalog/weights/indigo/indigo-1x32.data").read_bytes()

        def tensor(first: int, *shape: int) -> np.ndarray:
            return np.frombuffer(data, "<f4", math.prod(shape), first).reshape(shape).astype(np.float64)

        self.kernel, self.bias = tensor(1176, 41, 128), tensor(664, 128)
        self.last, self.offset = tensor(24, 32, 5), tensor(4, 5)
        self.memory, self.hidden = np.zeros(32), np.zeros(32)

    def __call__(self, observation: np.ndarray) -> int:
        def sigmoid(values: np.ndarray) -> np.ndarray:
            return 1.0 / (1.0 + np.exp(-values))

        gates = np.concatenate([observation, self.hidden]) @ self.kernel + self.bias
        into, candidate, forget, out = np.split(gates, 4)
        self.memory = self.memory * sigmoid(forget + 1.0) + sigmoid(into) * np.tanh(candidate)
        self.hidden = np.tanh(self.memory) * sigmoid(out)
        return int(np.argmax(self.hidden @ self.last + self.offset))


@pytest.mark.parametrize("path", ["default", "nepal-aws-india"])
def test_indigo_decided_for_from_outside_sends_the_same_packets(path: str) -> None:
    env = gym.CongestionEnv(path, policy="indigo", reward="log_power", duration_s=6.0)
    network = Indigo()
    observation, info = env.reset(seed=3)
    over = False
    while not over:
        observation, _, is_terminated, is_truncated, _ = env.step(network(observation))
        over = is_terminated or is_truncated
    run = env.run()
    scheme = dumbbell.specification("indigo", path, duration=6.0)
    flow = dict(scheme["flows"][0], stop_s=None)
    reference = dumbbell.simulate({**run.specification, "flows": [flow], "log": "packets"})
    own_packets, indigo_packets = run.packets(), reference.packets()
    assert len(own_packets) > 1000
    # The only difference is the effect of the last, missing decision.
    until = min(int(own_packets["time_ns"][-1]), int(indigo_packets["time_ns"][-1]))
    for column in ("time_ns", "seq", "size_bytes", "one_way_delay_ns"):
        own_column, other = (table[column][table["time_ns"] < until] for table in (own_packets, indigo_packets))
        assert np.array_equal(own_column, other), column
    assert info["seed"] == run.specification["seed"]


def test_the_oracle_knows_the_link() -> None:
    env = gym.CongestionEnv(link(), policy=QUICK, duration_s=3)
    env.reset(seed=1)
    for _ in range(60):
        info = env.step([0.2])[4]
    oracle, step = info["oracle"], info["step"]
    assert oracle["capacity_mbps"] == pytest.approx(12.0, rel=1e-3)
    assert (oracle["base_rtt_ms"], oracle["flows"]) == (60.0, 1.0)
    assert oracle["queue_packets"] > 30
    queued_ms = oracle["queue_packets"] * 1464 * 8 / 12e3
    assert step["rtt_ms"] == pytest.approx(60 + queued_ms, abs=4)


def test_what_an_episode_was_is_told_and_drawn() -> None:
    env = gym.CongestionEnv(link(), policy=QUICK, duration_s=3, metrics=True, render_mode="svg")
    env.reset(seed=1)
    rewards, over = [], False
    while not over:
        _, reward, _, over, info = env.step([0.0])
        rewards.append(reward)
    episode = info["episode"]
    assert episode["r"] == pytest.approx(sum(rewards))
    assert episode["l"] == len(rewards)
    # 10 packets per RTT of 60 ms
    assert episode["throughput_mbps"] == pytest.approx(10 * 1464 * 8 / 61e3, rel=0.05)
    assert episode["delay_p95_ms"] == pytest.approx(31, abs=1)
    assert env.render().lstrip().startswith("<")
    pixels = gym.CongestionEnv(link(), policy=QUICK, duration_s=1, render_mode="rgb_array")
    pixels.reset(seed=1)
    pixels.step([0.0])
    assert pixels.render().shape[2] == 3


def test_agents_share_a_link_and_decide_together() -> None:
    shared_environment = gym.CongestionParallelEnv(link(), flows=2, policy=QUICK, duration_s=4)
    shared_environment.reset(seed=1)
    infos: dict[str, Any] = {}
    while shared_environment.agents:
        actions = {name: np.array([0.05], np.float32) for name in shared_environment.agents}
        _, _, _, _, infos = shared_environment.step(actions)
    assert all(info["due"] and info["oracle"]["flows"] == 2 for info in infos.values())
    rates = [info["step"]["ack_mbps"] for info in infos.values()]
    assert sum(rates) == pytest.approx(12 * 1424 / 1464, rel=0.05)
    assert len(shared_environment.run().statistics["flows"]) == 2


def test_a_trained_policy_runs_as_a_scheme(tmp_path: Path) -> None:
    policy = gym.Policy(("latency_ratio",), 1, "rate_mult:0.5", "time_ms:20", start_mbps=2)
    tensors = {"0.kernel": np.zeros((1, 1)), "0.bias": np.array([0.02])}
    gym.export_policy(tmp_path / "mine.safetensors", "dense", tensors, policy)
    env = gym.CongestionEnv(link(), policy=policy, duration_s=2)
    env.reset(seed=1)
    over = False
    while not over:
        _, _, _, over, _ = env.step([0.02])
    run = env.run()
    flow = run.specification["flows"][0] | {
        "controller": "neural",
        "parameters": {"weights": str(tmp_path / "mine.safetensors")},
    }
    scheme = dumbbell.simulate({**run.specification, "flows": [flow]})
    assert scheme.statistics["flows"][0]["throughput_mbps"] == pytest.approx(
        run.statistics["flows"][0]["throughput_mbps"], rel=1e-3
    )
    assert scheme.statistics["flows"][0]["throughput_mbps"] > 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policy": "bbr"}, "policy = `bbr`: allowed are aurora, indigo, like-aurora, like-orca"),
        ({"policy": gym.Policy(("rtt",))}, "policy: `sees` = `rtt`: allowed are latency_inflation,"),
        ({"policy": gym.Policy(("acks",), action="jump")}, "policy: `action` = `jump`: allowed are rate_mult:SIZE,"),
        ({"policy": gym.Policy(("acks",), step="a b")}, "policy: `step` = 'a b': allowed is a word without blanks"),
        ({"reward": "speed"}, "reward = `speed`: allowed are aurora, orca,"),
        ({"reward": {"speed": 1.0}}, "reward: `speed`: allowed are t_s, dt_s,"),
        ({"vary": {"rate": (1, 2)}}, "vary = `rate`: allowed are rate_mbps,"),
        ({"vary": {"rate_mbps": 3}}, "rate_mbps = 3: allowed are \\(LOW, HIGH\\)"),
        ({"vary": {"rate_mbps": (2, 1)}}, "rate_mbps: from 2 to 1: allowed are finite numbers"),
        ({"vary": {"jitter_ms": (1, 2)}}, "vary = `jitter_ms`: the path has 0 elements `jitter`"),
        ({"vary": {"/path/data/9/x": (1, 2)}}, "/path/data/9/x: the run has no such place"),
        ({"vary": {"rate_mbps": (0, 0)}}, "rate_mbps = 0: must be above 0"),
        ({"duration_s": 0.0}, "duration_s = 0: allowed is a number above 0"),
        ({"background": ["cubik"]}, "unknown scheme `cubik`"),
        ({"render_mode": "human"}, "render_mode = `human`: allowed are svg, rgb_array"),
        ({"grid": "nothing"}, "nothing"),
    ],
)
def test_bad_input_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(dumbbell.Error, match=message) as error:
        gym.CongestionEnv(**{"path": link(), "policy": "like-aurora"} | changes)
    assert "\n" not in str(error.value)


def test_bad_calls_are_refused_in_one_line() -> None:
    environments = gym.CongestionVectorEnv(link(), num_envs=2, policy="indigo")
    for call, message in (
        (lambda: environments.reset(seed=[1]), "seed: 1 of them: allowed are 2"),
        (lambda: environments.reset(seed=-1), "Seed must be greater"),
        (lambda: environments.reset(options={"reset_mask": [True]}), "reset_mask: allowed are 2 flags"),
        (lambda: environments.step([0, 7]), "allowed are 0 to 4"),
        (lambda: environments.step([0]), "action: "),
        (lambda: gym.CongestionVectorEnv(link(), num_envs=0), "0 environments"),
        *(
            (lambda count=count: gym.CongestionVectorEnv(link(), num_envs=count), f"num_envs = {count}")
            for count in (2**40, 2**59, 2**63, 2**64)
        ),
        (lambda: gym.CongestionVectorEnv(link(), autoreset_mode="never"), "allowed are NextStep, SameStep, Disabled"),
        (lambda: gym.CongestionParallelEnv(link(), flows=0), "flows = 0: allowed is a whole number from 1"),
        (lambda: gym.CongestionVectorEnv(link(), flows=2**40), f"flows = {2**40}: allowed is a whole number from 1"),
    ):
        with pytest.raises((dumbbell.Error, Exception), match=message) as error:
            call()
        assert "\n" not in str(error.value)


def test_a_fork_has_no_threads_and_says_so() -> None:
    code = """if True:
        import os, signal
        import dumbbell
        import dumbbell_gym as gym
        many = gym.CongestionVectorEnv(dumbbell.make_path(rate="12mbit", rtt="60ms"), num_envs=2, threads=2)
        many.reset(seed=1)
        child = os.fork()
        if not child:
            signal.alarm(600)
            try:
                many.step(many.action_space.sample())
            except dumbbell.Error as error:
                print(error, flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        many.step(many.action_space.sample())
        print("stepped")
    """
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines, last_lines = result.stdout.splitlines()
    assert "is a fork of process" in lines
    assert last_lines == "stepped"


def test_without_gymnasium_one_line_says_what_to_install() -> None:
    code = "import sys; sys.modules['gymnasium'] = None\nimport dumbbell_gym"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].endswith("dumbbell_gym needs gymnasium: pip install 'dumbbell[gym]'")


def test_a_grid_and_a_trace_are_path_distributions(tmp_path: Path) -> None:
    trace = tmp_path / "up.trace"
    trace.write_text("".join(f"{ms}\n" for ms in range(1, 200, 2)))
    env = gym.CongestionEnv(trace, policy=QUICK, duration_s=1)
    env.reset(seed=1)
    assert env.step([0.5])[4]["oracle"]["capacity_mbps"] > 0
    grid = gym.CongestionEnv(grid="sweep_bandwidth", policy=QUICK, duration_s=0.5)
    paths_seen = {tuple(grid.reset(seed=seed)[1]["oracle"].values())[::3] for seed in range(12)}
    assert len(paths_seen) > 2
