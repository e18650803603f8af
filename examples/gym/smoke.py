"""Episodes of an agent that acts at random, and of one that does nothing: `python examples/gym/smoke.py`."""

import dumbbell
import dumbbell_gym as gym

path = dumbbell.make_path(rate="12mbit", rtt="60ms", queue="1bdp")
policy = gym.Policy(("latency_ratio", "send_ratio", "loss_ratio"), history=10, action="rate_mult:0.1", start_mbps=6)

for name in ("random", "constant"):
    env = gym.CongestionEnv(path, policy=policy, reward="log_power", duration_s=10)
    env.action_space.seed(1)
    total = 0.0
    for episode in range(3):
        env.reset(seed=episode)
        over = False
        while not over:
            action = env.action_space.sample() if name == "random" else [0.0]
            _, reward, is_terminated, is_truncated, info = env.step(action)
            over = is_terminated or is_truncated
        total += info["episode"]["r"] / info["episode"]["l"]
    print(f"{name}: mean reward {total / 3:.3f}")
