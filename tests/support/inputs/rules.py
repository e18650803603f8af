"""Rule tables for Remy that no training makes."""

import json


def rules_in_each_other(count: int) -> str:
    """Return `count` rules: slices of the space on one axis after another, each within the rest of the previous one."""
    end = 163_840.0
    thickness = end / 2 / (count // 4 + 2)
    action = {"window_increment": 1, "window_multiple": 1.0, "intersend_ms": 3.0}
    begins, rules = [0.0] * 4, []
    for number in range(count - 1):
        ends = [end] * 4
        ends[number % 4] = begins[number % 4] + thickness
        rules.append({"from": list(begins), "to": ends} | action)
        begins[number % 4] = ends[number % 4]
    return json.dumps({"format": "dumbbell remy 1", "rules": [*rules, {"from": begins, "to": [end] * 4} | action]})
