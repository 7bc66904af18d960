"""The requirements of the proofs: a missing one is an error, because a case that does not run would
count as passed.

A proof imports this module before its other modules, so that an old Python gets a clear message."""

import shutil
import sys

OLDEST = (3, 11)


def python():
    """Ends the proof if Python is too old."""
    if sys.version_info[:2] < OLDEST:
        wanted, found = (".".join(map(str, version[:2])) for version in (OLDEST, sys.version_info))
        raise SystemExit(f"the proofs need Python {wanted} or later, this is {found}")


def programs(proof, *names):
    """Ends the proof with a list of the programs that are not installed."""
    missing = [name for name in names if not shutil.which(name)]
    if missing:
        raise SystemExit(f"{proof}: this proof needs programs that are not installed: {', '.join(missing)}")


python()
