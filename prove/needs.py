"""The requirements of the proofs: a missing one is an error, because a case that does not run counts
as passed otherwise."""

import shutil
import sys

OLDEST = (3, 11)


def programs(proof, *names):
    """Ends the proof with a list of the programs that are not installed, and if Python is too
    old."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        raise SystemExit(f"{proof}: this proof needs Python {OLDEST[0]}.{OLDEST[1]} or later, this is {found}")
    missing = [name for name in names if not shutil.which(name)]
    if missing:
        raise SystemExit(f"{proof}: this proof needs programs that are not installed: {', '.join(missing)}")
