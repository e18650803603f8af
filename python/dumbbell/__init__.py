"""dumbbell weighs congestion control: runs controllers over repeatable paths and measures every packet.

    import dumbbell

    results = dumbbell.run(schemes=["cubic", "bbr"], path="california-mexico", runs=3, duration=10)
    results.metrics                        # every number; a table for polars, pandas, DuckDB, pyarrow
    results.packets(scheme="bbr", flow=1)  # every packet of its first run
    results.figure("means")                # shows itself in a notebook

`docs/library.md` goes through it.
"""

from dumbbell import starting

starting.watch()  # before anything else: Ctrl-C may come now

from importlib import import_module  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

from dumbbell._core import Error, version  # noqa: E402

if TYPE_CHECKING:
    from dumbbell.catalog.available import missing
    from dumbbell.catalog.flows import FlowPlan
    from dumbbell.catalog.one_line import make_path
    from dumbbell.catalog.path import PathModel
    from dumbbell.catalog.plan import Plan
    from dumbbell.catalog.scheme import Scheme
    from dumbbell.ccperf.experiment import ccperf_plan
    from dumbbell.ccperf.tables import CcperfTable, ccperf_tables
    from dumbbell.execution.pool import Outcome
    from dumbbell.execution.trust import Untrusted
    from dumbbell.experiment import Experiment, Run
    from dumbbell.library.benchmarks import BenchmarkResults, run_benchmark
    from dumbbell.library.calibrating import CalibratedPath, calibrate_path
    from dumbbell.library.doctor import Check, doctor
    from dumbbell.library.emulating import emulate
    from dumbbell.library.exchange import (
        export_pantheon,
        export_qlog,
        export_trace,
        import_iperf3,
        import_mahimahi,
        import_pantheon,
        import_pcap,
        import_qlog,
        import_ss,
        pantheon_sets,
    )
    from dumbbell.library.figures import Figure, check_figure_files, figure_kinds
    from dumbbell.library.installation import Installation, installation, plugin_include
    from dumbbell.library.listing import (
        experiments,
        listing,
        metrics,
        parameters,
        paths,
        plugin_schemes,
        schemes,
        settings,
    )
    from dumbbell.library.measuring import MeasuredPath, measure_path
    from dumbbell.library.metrics import check_metrics
    from dumbbell.library.one_run import RunResults
    from dumbbell.library.preview import Preview, preview, preview_benchmark
    from dumbbell.library.reading import compare, open, write_report
    from dumbbell.library.results import Results
    from dumbbell.library.running import (
        ControllerCost,
        Interrupted,
        controller_cost,
        run,
        simulate,
        simulate_async,
        specification,
    )
    from dumbbell.library.tables import Table
    from dumbbell.machine.bpf import bpf_loader
    from dumbbell.plugins.kernel import KernelController, compile_kernel_controller
    from dumbbell.remote.check import check_remote
    from dumbbell.remote.install import Installed, install_remote
    from dumbbell.results.shares import Share, shares
    from dumbbell.results.summary import Repetitions, bounds_legend
    from dumbbell.results.transfers import Transfers
    from dumbbell.train.job import Trained
    from dumbbell.train.training import train_controller, trainers
    from dumbbell.vectors import Difference, check_vectors, write_vectors

__version__ = version()

_PLACES = {
    "BenchmarkResults": "library.benchmarks",
    "CalibratedPath": "library.calibrating",
    "CcperfTable": "ccperf.tables",
    "ControllerCost": "library.running",
    "Check": "library.doctor",
    "Difference": "vectors",
    "Experiment": "experiment",
    "Figure": "library.figures",
    "FlowPlan": "catalog.flows",
    "Installation": "library.installation",
    "Installed": "remote.install",
    "Interrupted": "library.running",
    "KernelController": "plugins.kernel",
    "Outcome": "execution.pool",
    "PathModel": "catalog.path",
    "Plan": "catalog.plan",
    "Preview": "library.preview",
    "Repetitions": "results.summary",
    "Results": "library.results",
    "Run": "experiment",
    "RunResults": "library.one_run",
    "Scheme": "catalog.scheme",
    "Share": "results.shares",
    "Table": "library.tables",
    "Trained": "train.job",
    "Transfers": "results.transfers",
    "Untrusted": "execution.trust",
    "bounds_legend": "results.summary",
    "bpf_loader": "machine.bpf",
    "calibrate_path": "library.calibrating",
    "ccperf_plan": "ccperf.experiment",
    "ccperf_tables": "ccperf.tables",
    "check_figure_files": "library.figures",
    "check_metrics": "library.metrics",
    "check_remote": "remote.check",
    "check_vectors": "vectors",
    "compare": "library.reading",
    "compile_kernel_controller": "plugins.kernel",
    "controller_cost": "library.running",
    "doctor": "library.doctor",
    "emulate": "library.emulating",
    "experiments": "library.listing",
    "export_pantheon": "library.exchange",
    "export_qlog": "library.exchange",
    "export_trace": "library.exchange",
    "import_iperf3": "library.exchange",
    "import_mahimahi": "library.exchange",
    "import_pantheon": "library.exchange",
    "import_pcap": "library.exchange",
    "import_qlog": "library.exchange",
    "figure_kinds": "library.figures",
    "import_ss": "library.exchange",
    "install_remote": "remote.install",
    "installation": "library.installation",
    "listing": "library.listing",
    "make_path": "catalog.one_line",
    "MeasuredPath": "library.measuring",
    "measure_path": "library.measuring",
    "metrics": "library.listing",
    "missing": "catalog.available",
    "open": "library.reading",
    "pantheon_sets": "library.exchange",
    "parameters": "library.listing",
    "paths": "library.listing",
    "plugin_include": "library.installation",
    "plugin_schemes": "library.listing",
    "preview": "library.preview",
    "preview_benchmark": "library.preview",
    "run": "library.running",
    "run_benchmark": "library.benchmarks",
    "schemes": "library.listing",
    "settings": "library.listing",
    "shares": "results.shares",
    "simulate": "library.running",
    "simulate_async": "library.running",
    "specification": "library.running",
    "train_controller": "train.training",
    "trainers": "train.training",
    "write_report": "library.reading",
    "write_vectors": "vectors",
}
"""Where each name is from: read when it is used, as most uses need few of them."""

__all__ = [
    "BenchmarkResults",
    "CalibratedPath",
    "CcperfTable",
    "Check",
    "ControllerCost",
    "Difference",
    "Error",
    "Experiment",
    "Figure",
    "FlowPlan",
    "Installation",
    "Installed",
    "Interrupted",
    "KernelController",
    "MeasuredPath",
    "Outcome",
    "PathModel",
    "Plan",
    "Preview",
    "Repetitions",
    "Results",
    "Run",
    "RunResults",
    "Scheme",
    "Share",
    "Table",
    "Trained",
    "Transfers",
    "Untrusted",
    "__version__",
    "bounds_legend",
    "bpf_loader",
    "calibrate_path",
    "ccperf_plan",
    "ccperf_tables",
    "check_figure_files",
    "check_metrics",
    "check_remote",
    "check_vectors",
    "compare",
    "compile_kernel_controller",
    "controller_cost",
    "doctor",
    "emulate",
    "experiments",
    "export_pantheon",
    "export_qlog",
    "export_trace",
    "figure_kinds",
    "import_iperf3",
    "import_mahimahi",
    "import_pantheon",
    "import_pcap",
    "import_qlog",
    "import_ss",
    "install_remote",
    "installation",
    "listing",
    "make_path",
    "measure_path",
    "metrics",
    "missing",
    "open",
    "pantheon_sets",
    "parameters",
    "paths",
    "plugin_include",
    "plugin_schemes",
    "preview",
    "preview_benchmark",
    "run",
    "run_benchmark",
    "schemes",
    "settings",
    "shares",
    "simulate",
    "simulate_async",
    "specification",
    "train_controller",
    "trainers",
    "write_report",
    "write_vectors",
]


if not TYPE_CHECKING:  # type checkers know every name, and that there are no others

    def __getattr__(name: str) -> Any:  # noqa: ANN401 (any of the names)
        if name not in _PLACES:
            raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
        found = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
