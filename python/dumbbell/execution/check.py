"""Check whether an experiment can run, before any run begins."""

from dumbbell import core
from dumbbell.backends import find_executor
from dumbbell.base.backend import Backend, backend_forms
from dumbbell.base.errors import UserError, argument, listed, with_hint
from dumbbell.catalog.colors import ALLOWED, is_color
from dumbbell.catalog.outside.availability import missing
from dumbbell.catalog.scheme import WHAT, Scheme
from dumbbell.catalog.toml_tables import MOST_LABEL, MOST_TITLE
from dumbbell.core.paths import check_application, check_path, complete_transport
from dumbbell.experiment.planned import Experiment, Run
from dumbbell.experiment.setting_groups import check_caps
from dumbbell.plugins import isolated


def check(experiment: Experiment) -> None:
    """Check with the core that every combination of schemes and paths can run.

    Raises:
        UserError: If one cannot run; the message has the faulty file and the core's reason.
    """
    executor = find_executor(experiment)
    check_caps(experiment, executor.backend)
    for path in experiment.paths.values():
        try:
            check_path(path.spec())
        except core.Error as error:
            raise UserError(f"{path.file}: path `{path.name}`: {with_hint(str(error))}") from None
    _check_texts(experiment)
    for scheme in experiment.schemes.values():
        _check_scheme(scheme, executor.backend)
    outside = []
    for run in experiment.repetition(1):
        _check_flows(experiment, run)
        if experiment.outside(run):
            outside.append(run)
            continue
        try:
            executor.check(experiment.specification(run))
        except core.Error as error:
            raise _refused(experiment, run, str(error)) from None
    _check_outside(experiment, outside, executor.backend.capabilities.real_packets)


def _check_outside(experiment: Experiment, runs: list[Run], real_packets: bool) -> None:
    """Check the runs with plug-ins, in a process where plug-ins can do no harm."""
    if not runs:
        return
    specifications = [experiment.specification(run) for run in runs]
    files = [scheme.code for run in runs for scheme in experiment.outside(run)]
    for run, refusal in zip(runs, isolated.check(specifications, real_packets, files), strict=True):
        if refusal is not None:
            raise _refused(experiment, run, refusal)


def _refused(experiment: Experiment, run: Run, reason: str) -> UserError:
    file = f"{experiment.file}: " if experiment.file and experiment.listed_flows(run.path) else ""
    return UserError(f"{file}{run.scheme} on {run.path}: {with_hint(reason)}")


def _check_texts(experiment: Experiment) -> None:
    """Check the texts in figures and terminals: known colours, and titles without control characters."""
    for scheme in experiment.schemes.values():
        if not is_color(scheme.color):
            raise UserError(f"{scheme.file}: scheme `{scheme.name}`: `color` = {scheme.color}: allowed is {ALLOWED}")
    titles = [
        (f"{scheme.file}: scheme `{scheme.name}`: ", scheme.title, MOST_LABEL) for scheme in experiment.schemes.values()
    ]
    titles += [(f"{path.file}: path `{path.name}`: ", path.title, MOST_TITLE) for path in experiment.paths.values()]
    titles.append((f"{experiment.file}: " if experiment.file else "", experiment.title, MOST_TITLE))
    for prefix, title, max_letters in titles:
        if not title.isprintable():
            raise UserError(f"{prefix}`title` = {title}: allowed is a text without control characters")
        if len(title) > max_letters:
            raise UserError(f"{prefix}`title` = {title[:80]}...: allowed is a text of up to {max_letters} letters")


def _check_scheme(scheme: Scheme, backend: Backend) -> None:
    if scheme.real:
        _check_real(scheme, backend)
        return
    try:
        if not scheme.is_outside:
            core.check_parameters(scheme.controller, scheme.parameters)
        complete_transport(scheme.transport)
        check_application(scheme.application)
    except core.Error as error:
        raise UserError(f"{scheme.file}: scheme `{scheme.name}`: {with_hint(str(error))}") from None


def _check_real(scheme: Scheme, backend: Backend) -> None:
    if not backend.capabilities.real_packets:
        able = listed(backend_forms(lambda can: can.real_packets))
        with_them = f"{argument('backend')} {able}"
        raise UserError(f"scheme `{scheme.name}` is {WHAT[scheme.kind]}: it runs with {with_them} only")
    reason = missing(scheme)
    if reason is not None:
        raise UserError(f"scheme `{scheme.name}` cannot run here: {reason}")


def _check_flows(experiment: Experiment, run: Run) -> None:
    """Check facts about flows that the core cannot know."""
    plans = experiment.flow_plans(run.scheme, run.path)
    for flow in plans:
        scheme = experiment.schemes[flow.scheme]
        if flow.transport and scheme.real:
            raise UserError(
                f"flow of `{flow.scheme}`: `transport`: allowed is none: {WHAT[scheme.kind]} brings its own"
            )
    last_start_s = (len(plans) - 1) * experiment.interval_s
    if not experiment.listed_flows(run.path) and last_start_s >= experiment.duration_s:
        raise UserError(
            f"{len(plans)} flows, {experiment.interval_s:g} s apart, do not all start within the duration of "
            f"{experiment.duration_s:g} s"
        )
