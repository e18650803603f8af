"""Tests of the run spec that each end of a run between two machines receives."""

import json

import pytest

from dumbbell import Error, _core, catalog
from dumbbell.catalog.run_request import RunRequest
from dumbbell.experiment import pin, resolve
from dumbbell_remote.package_files import files, localized, portable
from dumbbell_remote.remote_run import own_part, sender_needs


@pytest.mark.parametrize("scheme", ["indigo", "tao-100x", "fair", "cubic"])
def test_who_receives_needs_no_files_of_a_controller(scheme: str) -> None:
    experiment = resolve(catalog.experiments().find("quick"), RunRequest(schemes=(scheme,)))
    specification = experiment.specification(experiment.all_runs()[0])
    (flow,) = specification["flows"]
    assert bool(sender_needs(flow)) == (scheme != "cubic")
    assert own_part(specification, sends=True) == specification
    receives = own_part(specification, sends=False)
    assert not sender_needs(receives["flows"][0])
    _core.check_run(json.dumps(receives), "emu")


def test_files_that_come_with_dumbbell_are_found_on_the_other_machine_and_no_others() -> None:
    experiment = pin(resolve(catalog.experiments().find("quick"), RunRequest(schemes=("indigo",))))
    specification = experiment.specification(experiment.all_runs()[0])
    portable_run = portable(specification)
    (file_name,) = files(portable_run["flows"][0]).values()
    assert file_name.startswith("package:catalog/")
    assert localized(portable_run, only_shipped=True) == specification
    for stranger in ("/etc/passwd", f"package:{'../' * 3}etc/passwd", "package:/etc/passwd", "weights"):
        flow = portable_run["flows"][0] | {"parameters": dict.fromkeys(files(portable_run["flows"][0]), stranger)}
        with pytest.raises(Error, match="only those that come with dumbbell are read"):
            localized(portable_run | {"flows": [flow]}, only_shipped=True)
    own_files = portable_run | {
        "flows": [portable_run["flows"][0] | {"parameters": dict.fromkeys(files(portable_run["flows"][0]), "/mine")}]
    }
    assert localized(portable(own_files), only_shipped=False) == own_files
