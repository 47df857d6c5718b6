"""Builds the wheel: the program by cargo, the module by maturin, in one target folder.

A PEP 517 backend that wraps maturin's. The program becomes a script of the wheel, so that
`pip install .` gives both `import trainwright` and the command `trainwright`. Both are compiled
with the workspace's release profile into its target folder, so that nothing compiles twice.

A quick build for development: pip install . -C build-args="--profile dev"
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import maturin

ROOT = Path(__file__).resolve().parent.parent
STAGED = ROOT / "target" / "wheel-data" / "scripts"

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
build_sdist = maturin.build_sdist


def prepare_metadata_for_build_wheel(folder: str, settings: dict[str, Any] | None = None) -> str:
    STAGED.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(folder, settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(folder: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    stage_program(profile_of(settings))
    return maturin.build_wheel(folder, settings, metadata)


def build_editable(folder: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    stage_program(profile_of(settings))
    return maturin.build_editable(folder, settings, metadata)


def profile_of(settings: dict[str, Any] | None) -> str:
    """The cargo profile that the build arguments name; `release` where they name none."""
    words = (settings or {}).get("build-args", os.environ.get("MATURIN_PEP517_ARGS", ""))
    words = shlex.split(words) if isinstance(words, str) else list(words)
    for place, word in enumerate(words):
        if word.startswith("--profile="):
            return word.removeprefix("--profile=")
        if word == "--profile" and place + 1 < len(words):
            return words[place + 1]
    return "release"


def stage_program(profile: str) -> Path:
    """Compiles the program and puts it where maturin takes scripts from."""
    # Cargo may be told another target folder, which the module's build follows too.
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = ["cargo", "build", "--package", "trainwright-cli", "--profile", profile]
    subprocess.run(command, cwd=ROOT, check=True)
    program = target / ("debug" if profile == "dev" else profile) / "trainwright"
    STAGED.mkdir(parents=True, exist_ok=True)
    staged = STAGED / "trainwright"
    staged.unlink(missing_ok=True)
    shutil.copy2(program, staged)
    return staged


if __name__ == "__main__":
    import sys

    print(stage_program(sys.argv[1] if len(sys.argv) > 1 else "release"))
