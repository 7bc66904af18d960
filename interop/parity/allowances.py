"""The list of deliberate differences, and its application.

An entry of `differences.toml` names cases and places by regular expressions, and the permitted
difference: the matches of the regular expressions `original` and `pollux` are removed from the two
values before they are compared again. So an entry permits exactly the text that it matches; the
text around it must still be equal. An entry with `exactly` has a list of exact values instead. No
entry permits any value on both sides. An entry that permits nothing in a full run is an error, so that
the list stays up to date.
"""

import re
import tomllib
from dataclasses import dataclass, field

from compare import Difference

# A value that no program has. An entry that permits it on both sides would permit any difference.
ANY = 'neither\n{"program": "says this 1"}\n'
ALL_CASES = ".*"
STEP = re.compile(r"\Astep \d+: ")
KEYS = {"cases", "where", "original", "pollux", "reason"}


@dataclass
class Allowance:
    """One entry of the list."""

    cases: re.Pattern
    where: re.Pattern
    original: re.Pattern | None
    pollux: re.Pattern | None
    reason: str
    # Whether both values must match as a whole.
    exact: bool = False
    used: set = field(default_factory=set)

    def covers(self, case, where):
        """Returns whether the entry applies to a place. One without a step applies to each step."""
        places = (where, STEP.sub("", where))
        return bool(self.cases.fullmatch(case) and any(map(self.where.fullmatch, places)))

    def is_general(self):
        """Returns whether the entry is for all cases."""
        return self.cases.pattern == ALL_CASES

    def removed(self, original, pollux):
        """Returns both values without the permitted text. An entry with patterns for both sides
        permits nothing if it matches on one side only."""
        sides = ((self.original, original), (self.pollux, pollux))
        if not all(pattern.search(value) for pattern, value in sides if pattern):
            return original, pollux
        return tuple(pattern.sub("", value) if pattern else value for pattern, value in sides)


def load(path):
    """Reads the list. An entry without a reason, or with an unknown key, is an error."""
    allowances = []
    for number, entry in enumerate(tomllib.loads(path.read_text()).get("difference", []), 1):
        try:
            if "exactly" in entry:
                allowances += _exact(entry)
            else:
                allowances.append(_pattern(entry))
        except ValueError as error:
            raise ValueError(f"{path.name}: entry {number}: {error}") from error
    # Exact values are compared before other entries remove a part.
    return sorted(allowances, key=lambda allowance: not allowance.exact)


def _exact(entry):
    """Returns the values of an entry with exact values, each as an entry of its own."""
    for value in entry["exactly"]:
        if value.keys() != {"where", "original", "pollux"}:
            raise ValueError("an exact value has a place, the value of the original and of Pollux")
    texts = [(value["where"], *(f"\\A{re.escape(value[side])}\\Z" for side in ("original", "pollux")))
             for value in entry["exactly"]]
    rest = {key: value for key, value in entry.items() if key != "exactly"}
    return [_pattern({**rest, "where": re.escape(where), "original": original, "pollux": pollux}, exact=True)
            for where, original, pollux in texts]


def _pattern(entry, exact=False):
    if unknown := entry.keys() - KEYS:
        raise ValueError(f"unknown keys: {', '.join(sorted(unknown))}")
    if not (entry.get("reason") and entry.get("where") and ("original" in entry or "pollux" in entry)):
        raise ValueError("a reason is missing, or where or what differs")
    original, pollux = (re.compile(entry[side]) if side in entry else None for side in ("original", "pollux"))
    if all(side and not side.sub("", ANY) for side in (original, pollux)):
        raise ValueError(f"any value is permitted on both sides ({entry['reason']})")
    cases, where = (re.compile(entry.get(key, ALL_CASES)) for key in ("cases", "where"))
    return Allowance(cases, where, original, pollux, entry["reason"], exact)


def judge(case, difference, allowances):
    """Returns the reasons that permit the difference, and the remaining difference: None, or a
    failure."""
    original, pollux = difference.original, difference.pollux
    used = []
    for allowance in allowances:
        if not allowance.covers(case, difference.where):
            continue
        left, right = allowance.removed(original, pollux)
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
