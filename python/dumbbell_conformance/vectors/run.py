"""Runs of scripts with a scheme's controller: built in, a library or a class."""

from collections.abc import Sequence
from os import PathLike

from dumbbell.api.running import specification
from dumbbell.base.errors import UserError, listed
from dumbbell.catalog.outside.plugin_schemes import NO_ECN, uses_ecn
from dumbbell.catalog.scheme import Scheme, transports_of
from dumbbell.contract.controllers import ScriptReport
from dumbbell.execution.trust import outside_code
from dumbbell.plugins import isolated
from dumbbell_conformance.vectors.scripts import Script, ScriptResult, read_scripts


def run_scripts(
    scripts: Sequence[str | PathLike[str]] = (), scheme: str | Scheme | None = None, *, steps: bool = False
) -> list[ScriptResult]:
    """Run scripts: timelines of inputs to a controller, sender or receiver, and of the expected results.

    Args:
        scripts: Files, directories, names of shipped scripts (`reno/slow-start`) or of their groups (`reno`); without
            one, all shipped scripts, with a listed `scheme` those for its controller.
        scheme: The scheme whose controller is driven; by default each script's own controller.
        steps: True to include every event in the results, with all fields and the answer.

    Raises:
        dumbbell.Error: If a script or scheme does not exist, or a script is refused, with its line.
    """
    if scheme is None:
        return [script.run(steps=steps) for script in read_scripts(scripts)]
    run_spec = specification(scheme, duration=1.0, log="none", settings={"host_jitter_us": 0})
    name, controller = str(run_spec["flows"][0]["scheme"]), str(run_spec["flows"][0]["controller"])
    read = list(read_scripts(scripts))
    if not scripts:
        read = [script for script in read if script.controller == controller and script.drives == "controller"]
        if not read:
            raise UserError(f"no shipped script is for `{controller}`: name scripts or files")
    receiving = [script.name for script in read if script.drives == "receiver"]
    if receiving:
        raise UserError(f"{receiving[0]}: drives a receiver, which has no controller: leave `{name}` out")
    files = list(dict.fromkeys(str(file) for _, _, file in outside_code(run_spec)))
    if not files:
        return [script.run(run_spec, name, steps) for script in read]
    read = _applicable(read, (run_spec["flows"][0].get("transport") or {}).get("profile"), list(map(str, scripts)))
    flow, code, file = next(outside_code(run_spec))
    hears = uses_ecn(str(flow["controller"]), file, str(code["sha256"]), flow.get("transport") or {})
    runnable = [script for script in read if hears or not script.tells_marks]
    reports = isolated.run_scripts([script.text for script in runnable], run_spec, steps, files) if runnable else []
    results = {id(script): _result(script, report, name) for script, report in zip(runnable, reports, strict=True)}
    return [results.get(id(script)) or script.not_judged(name, NO_ECN) for script in read]


def _applicable(read: Sequence[Script], profile: str | None, selected_names: Sequence[str]) -> list[Script]:
    """Return the scripts that hold for the transport of a scheme, and those selected by name."""
    holds = set(transports_of(profile))
    holding = [script for script in read if script.name in selected_names or holds & set(script.transports)]
    if not holding:
        raise UserError(f"{read[0].name}: holds for {listed(read[0].transports)}, not for {listed(sorted(holds))}")
    return holding


def _result(script: Script, report: ScriptReport | isolated.ScriptRefusal, name: str) -> ScriptResult:
    if "refusal" in report:
        raise UserError(f"{script.name}: {report['refusal']}")
    return script.result(report, name)
