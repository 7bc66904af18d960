"""The list of deliberate differences, and its application.

An entry of `differences.toml` names cases and places by regular expressions, and the permitted
difference: the matches of the regular expressions `original` and `pollux` are removed from the two
values before they are compared again. So an entry permits exactly the text that it matches; the
text around it must still be equal. An entry that permits nothing in a full run is an error, so that
the list stays up to date.
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
    """Reads the list. An entry without a reason, or with an unknown key, is an error."""
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
    """Returns the reasons that permit the difference, and the remaining difference: None, or a
    failure."""
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
        # Equal values need no further permission.
        if original == pollux:
            break
    if original != pollux:
        return [], Difference(difference.where, original, pollux)
    for allowance in used:
        allowance.used.add(case)
    return [allowance.reason for allowance in used], None
