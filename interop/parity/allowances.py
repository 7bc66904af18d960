"""The list of deliberate differences, and what it allows.

An entry of `differences.toml` names cases and places by regular expressions, and what may differ there:
`original` and `pollux` are regular expressions whose matches are left out of the two values before these
are compared again. So an entry excuses exactly the words it names; what stands around them must
still agree. An entry that excuses nothing in a full run is an error: the list cannot rot.
"""

import re
import tomllib
from dataclasses import dataclass, field

from compare import Difference

KEYS = {"cases", "where", "original", "pollux", "reason"}


@dataclass
class Allowance:
    """One entry of the list."""

    cases: re.Pattern
    where: re.Pattern
    original: re.Pattern | None
    pollux: re.Pattern | None
    reason: str
    used: set = field(default_factory=set)

    def covers(self, case, where):
        return bool(self.cases.fullmatch(case) and self.where.fullmatch(where))


def load(path):
    """Reads the list; an entry without a reason, or with a key that means nothing, is an error."""
    allowances = []
    for number, entry in enumerate(tomllib.loads(path.read_text())["difference"], 1):
        if unknown := entry.keys() - KEYS:
            raise ValueError(f"{path.name}: entry {number} has unknown keys: {', '.join(unknown)}")
        if not entry.get("reason") or not ("original" in entry or "pollux" in entry):
            raise ValueError(f"{path.name}: entry {number} needs a reason and what differs")
        allowances.append(
            Allowance(
                re.compile(entry.get("cases", ".*")),
                re.compile(entry["where"]),
                *(re.compile(entry[key]) if key in entry else None for key in ("original", "pollux")),
                entry["reason"],
            )
        )
    return allowances


def judge(case, difference, allowances):
    """The reasons that excuse the difference, and what of it they leave: None, or a failure."""
    original, pollux = difference.original, difference.pollux
    used = []
    for allowance in allowances:
        if not allowance.covers(case, difference.where):
            continue
        left = allowance.original.sub("", original) if allowance.original else original
        right = allowance.pollux.sub("", pollux) if allowance.pollux else pollux
        if (left, right) != (original, pollux):
            used.append(allowance)
            original, pollux = left, right
        # What is the same already needs no further excuse.
        if original == pollux:
            break
    if original != pollux:
        return [], Difference(difference.where, original, pollux)
    for allowance in used:
        allowance.used.add(case)
    return [allowance.reason for allowance in used], None
