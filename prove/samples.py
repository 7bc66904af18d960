"""Samples of a corpus that another seed continues: all seeds in a row try everything."""

import argparse
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """About `count` cases of each corpus, or all if it is 0."""

    count: int = 0
    seed: int = 0

    def of(self, cases, count=None):
        """Returns the sampled cases in their order. The next seed begins where this one ends, in an
        order that is mixed once and for all."""
        count = self.count if count is None else min(count, self.count)
        if not self.count or count >= len(cases):
            return list(cases)
        mixed = list(range(len(cases)))
        random.Random(len(cases)).shuffle(mixed)
        start = self.seed * count
        return [cases[at] for at in sorted(mixed[(start + number) % len(mixed)] for number in range(count))]

    def __str__(self):
        return f"a sample of {self.count}, seed {self.seed}" if self.count else "everything"


ALL = Sample()


def add_options(parser, what):
    parser.add_argument("--sample", type=natural, default=0, metavar="N", help=f"only about N {what}")
    parser.add_argument("--seed", type=natural, default=None, metavar="N", help="the seed of the sample, as printed")


def from_options(options):
    """Returns the sample that the options ask for, with a random seed if they have none."""
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    return Sample(options.sample, seed)


def natural(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("a negative number")
    return value
