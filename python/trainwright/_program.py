"""Where the command `trainwright` is, which trials of the built-in trainer start."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from .errors import EnvironmentFault


def program() -> Path:
    """The program `trainwright` that came with this package.

    The environment variable TRAINWRIGHT_PROGRAM names another one. Next come the scripts of this
    installation, the folder of the interpreter, the user's scripts, and the search path.

    >>> program().name
    'trainwright'
    """
    named = os.environ.get("TRAINWRIGHT_PROGRAM")
    if named:
        return Path(named)
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    if "posix_user" in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", "posix_user"))
    for folder in folders:
        candidate = Path(folder) / "trainwright"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    found = shutil.which("trainwright")
    if found is None:
        raise EnvironmentFault(
            "the command `trainwright` is not where this package installs it; install the package "
            "again, or name the program in the environment variable TRAINWRIGHT_PROGRAM"
        )
    return Path(found)
