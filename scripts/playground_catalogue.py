"""Write the playground's data on schemes, links and settings: `python -m scripts.playground_catalogue FOLDER`.

The page fills numbers into these data, so that TypeScript contains no copy of a scheme or a path.
Weights of learned schemes are copied to the folder, and are fetched when a scheme is chosen.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from dumbbell import catalog, core
from dumbbell.base.version import __version__
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.families import FAMILIES, family
from dumbbell.catalog.grids.queues import DISCIPLINES, NAMES
from dumbbell.catalog.options.path_options import AQM_QUEUE
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.queue_lengths import PACKET_BYTES
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment.planned import derive_seed
from dumbbell.experiment.specification import fitted_transport
from dumbbell.present.plots.parts.strokes import scheme_strokes
from dumbbell.present.plots.parts.style import INK, styles

PATH = "playground"
"""Name of the path of every run. With the seed of the experiment it determines the seed of the run."""

SEEDS = 100
"""Number of seeds to choose from: 1, 2, ..."""

WEIGHTS = "weights"
"""Subfolder for files of learned schemes."""


def catalogue(folder: Path) -> dict[str, Any]:
    """Return the data for the page, and copy the files of learned schemes into `folder`."""
    plain = PathModel(name=PATH, title="")
    schemes = [scheme for scheme in catalog.schemes() if scheme.kind == "core"]
    looks = styles([(scheme.name, scheme.color, scheme.marker) for scheme in schemes])
    strokes = dict(zip(looks, scheme_strokes(list(looks.values())), strict=True))
    required_files = core.needed_files()
    settings = Settings()
    return {
        "version": __version__,
        "path": {
            "name": PATH,
            "overhead_bytes": plain.overhead_bytes,
            "mtu_bytes": plain.mtu_bytes,
            "fragment": plain.fragment,
        },
        "settings": {
            name: getattr(settings, name)
            for name in ("convergence_delta", "jain_window_s", "most_events_per_s", "most_packets")
        },
        "packet_bytes": PACKET_BYTES,
        "seeds": [derive_seed(seed, PATH, 1) for seed in range(1, SEEDS + 1)],
        "families": FAMILIES,
        "queues": [{"name": name, "kind": DISCIPLINES[name.removesuffix("-ecn")]} for name in NAMES],
        "aqm_packets": int(AQM_QUEUE.removesuffix("p")),
        "cellular": [_cellular(path) for path in catalog.paths() if path.name.startswith("cellular-")],
        "schemes": [
            _scheme(scheme, plain, required_files.get(scheme.controller, []), folder)
            | {
                "color": "" if strokes[scheme.name].color == INK else strokes[scheme.name].color,
                "marker": strokes[scheme.name].marker,
                "dashes": strokes[scheme.name].dashes,
            }
            for scheme in schemes
        ],
    }


def _scheme(scheme: Scheme, path: PathModel, required_files: list[str], folder: Path) -> dict[str, Any]:
    """Return a scheme as in a flow, with its texts for the page. Its files have names below the folder of weights."""
    parameters, files = dict(scheme.parameters), {}
    for name, value in scheme.parameters.items():
        file = Path(scheme.folder) / value
        if "/" in value and file.is_file():
            copy_name = f"{WEIGHTS}/{file.name}"
            (folder / WEIGHTS).mkdir(exist_ok=True)
            shutil.copyfile(file, folder / copy_name)
            for licence in file.parent.glob("LICENSE*"):
                shutil.copyfile(licence, folder / WEIGHTS / f"{file.stem}.LICENSE")
            parameters[name] = copy_name
            files[name] = file.stat().st_size
    return {
        "name": scheme.name,
        "title": scheme.title,
        "family": family(scheme.name) or "other",
        "summary": scheme.summary,
        "source": scheme.source,
        "traffic": scheme.is_traffic,
        "controller": scheme.controller,
        "parameters": parameters,
        "transport": fitted_transport(scheme, path),
        "application": scheme.application,
        "files": files,
        "needs": [name for name in required_files if name not in scheme.parameters],
    }


def _cellular(path: PathModel) -> dict[str, Any]:
    """Return the links of a cellular path, without its delays."""
    data, ack = (
        [element for element in direction if element["kind"] == "cellular"] for direction in (path.data, path.ack)
    )
    return {"name": path.name.removeprefix("cellular-"), "title": path.title.split(",")[0], "data": data, "ack": ack}


def main() -> None:
    """Write the catalogue."""
    folder = Path(sys.argv[1])
    text = json.dumps(catalogue(folder), ensure_ascii=False, separators=(",", ":"))
    (folder / "catalogue.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
