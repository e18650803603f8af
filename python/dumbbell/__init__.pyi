"""The public names of dumbbell, and where each is from: read when it is used, as most uses need few of them."""

from .api.convert import (
    export_pantheon as export_pantheon,
    export_qlog as export_qlog,
    export_trace as export_trace,
    import_results as import_results,
    import_results_request as import_results_request,
)
from .api.emulating import emulate as emulate
from .api.kernel_controllers import (
    KernelController as KernelController,
    compile_kernel_controller as compile_kernel_controller,
)
from .api.listing import (
    Listed as Listed,
    experiments as experiments,
    listing as listing,
    metrics as metrics,
    parameters as parameters,
    paths as paths,
    plugin_schemes as plugin_schemes,
    schemes as schemes,
    settings as settings,
)
from .api.preview import Preview as Preview, preview as preview, preview_request as preview_request
from .api.reading import compare as compare, open as open, write_report as write_report
from .api.records.figures import (
    Figure as Figure,
    check_figure_files as check_figure_files,
    figure_kinds as figure_kinds,
)
from .api.records.metrics import check_metrics as check_metrics
from .api.records.one_run import RunResults as RunResults
from .api.records.results import Results as Results
from .api.running import (
    Interrupted as Interrupted,
    rerun as rerun,
    run as run,
    run_request as run_request,
    simulate as simulate,
    simulate_async as simulate_async,
    specification as specification,
)
from .api.schemas import export_schema as export_schema, schema_file as schema_file
from .api.serving import serve as serve, write_site as write_site
from .base.version import __version__ as __version__
from .catalog.conformance_cases import conformance_suites as conformance_suites
from .catalog.experiment_file import ExperimentFile as ExperimentFile, Plan as Plan
from .catalog.grids.flows import FlowPlan as FlowPlan
from .catalog.options.path_options import make_path as make_path
from .catalog.outside.availability import missing as missing
from .catalog.outside.bpf import bpf_loader as bpf_loader
from .catalog.path import PathModel as PathModel
from .catalog.run_request import (
    Budget as Budget,
    Campaign as Campaign,
    Remote as Remote,
    RunRequest as RunRequest,
)
from .catalog.schema.files import schema as schema
from .catalog.scheme import Scheme as Scheme
from .core import Error as Error
from .execution.pool import Outcome as Outcome
from .execution.trust import Untrusted as Untrusted
from .experiment import Experiment as Experiment, Run as Run
from .experiment.doctor import Check as Check, doctor as doctor
from .formats.import_request import ImportRequest as ImportRequest
from .formats.importers import (
    import_file as import_file,
    import_kinds as import_kinds,
    import_parts as import_parts,
)
from .results.analysis.axis_words import axis_title as axis_title, axis_value as axis_value
from .results.analysis.compare import ComparedMean as ComparedMean, Comparison as Comparison
from .results.analysis.findings import remark as remark
from .results.analysis.shares import (
    Share as Share,
    competing as competing,
    competing_heading as competing_heading,
    competing_text as competing_text,
    counted_text as counted_text,
    shares as shares,
)
from .results.analysis.summary import Repetitions as Repetitions, bounds_legend as bounds_legend
from .results.installation import (
    Installation as Installation,
    installation as installation,
    plugin_include as plugin_include,
)
from .results.series.table import Table as Table
from .results.series.transfers import Transfers as Transfers
from .studies.benchmark.preview import (
    preview_benchmark as preview_benchmark,
    preview_benchmark_request as preview_benchmark_request,
)
from .studies.benchmark.request import BenchmarkRequest as BenchmarkRequest
from .studies.benchmark.run import (
    BenchmarkResults as BenchmarkResults,
    run_benchmark as run_benchmark,
    run_benchmark_request as run_benchmark_request,
)
from .studies.capacity import (
    Capacity as Capacity,
    CarriedRate as CarriedRate,
    measure_capacity as measure_capacity,
)
from .studies.cost import (
    ControllerCost as ControllerCost,
    CostComparison as CostComparison,
    controller_cost as controller_cost,
    cost_beside as cost_beside,
)
