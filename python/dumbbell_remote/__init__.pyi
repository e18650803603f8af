"""The public names of `dumbbell_remote`, and where each is from."""

from .check import check_remote as check_remote
from .installing.install import Installed as Installed, install_remote as install_remote
from .pathfinding.run import MeasuredPath as MeasuredPath, measure_path as measure_path
