"""`python -m trainwright` is the command `trainwright`."""

from __future__ import annotations

import os
import sys

from ._program import program

if __name__ == "__main__":
    path = str(program())
    os.execv(path, [path, *sys.argv[1:]])
