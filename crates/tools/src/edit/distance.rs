//! Levenshtein distance up to a limit, computed in a band around the diagonal with a limited budget
//! of steps.

/// Error of a search that would take too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfBudget;

/// Number of steps left before a search gives up.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new(steps: usize) -> Self {
        Self(steps)
    }

    fn spend(&mut self, steps: usize) -> Result<(), OutOfBudget> {
        self.0 = self.0.checked_sub(steps).ok_or(OutOfBudget)?;
        Ok(())
    }
}

/// Returns the distance of two texts if it is at most `limit`.
pub(super) fn distance_within(
    left: &[char],
    right: &[char],
    limit: usize,
    budget: &mut Budget,
) -> Result<Option<usize>, OutOfBudget> {
    let (left, right) = without_common_ends(left, right);
    budget.spend(1)?;
    if left.len().abs_diff(right.len()) > limit {
        return Ok(None);
    }
    let row = distances(left, right, limit, budget)?;
    Ok(row.and_then(|row| row.last().copied()).filter(|distance| *distance <= limit))
}

/// Returns the distance of `left` from each beginning of `right`, by the length of the beginning;
/// more than `limit` for each greater distance. `None` if all distances are greater.
pub(super) fn distances(
    left: &[char],
    right: &[char],
    limit: usize,
    budget: &mut Budget,
) -> Result<Option<Vec<usize>>, OutOfBudget> {
    let beyond = limit + 1;
    let mut row: Vec<usize> = (0..=right.len()).map(|column| column.min(beyond)).collect();
    for (index, letter) in left.iter().enumerate() {
        let first = (index + 1).saturating_sub(limit).max(1);
        let last = (index + 1).saturating_add(limit).min(right.len());
        budget.spend(last + 1 - first.min(last + 1))?;
        let mut diagonal = row[first - 1];
        // Cells left of the band are beyond the limit, except the first column itself.
        row[first - 1] = if first == 1 { (index + 1).min(beyond) } else { beyond };
        let mut best = row[first - 1];
        for column in first..=last {
            let replaced = diagonal + usize::from(right[column - 1] != *letter);
            diagonal = row[column];
            row[column] = replaced.min(diagonal + 1).min(row[column - 1] + 1).min(beyond);
            best = best.min(row[column]);
        }
        if best > limit {
            return Ok(None);
        }
    }
    // The cells that the band has left behind.
    let passed = left.len().saturating_sub(limit).min(row.len());
    row[..passed].fill(beyond);
    Ok(Some(row))
}

fn without_common_ends<'a>(left: &'a [char], right: &'a [char]) -> (&'a [char], &'a [char]) {
    let same = |(one, other): &(&char, &char)| one == other;
    let before = left.iter().zip(right).take_while(same).count();
    let (left, right) = (&left[before..], &right[before..]);
    let after = left.iter().rev().zip(right.iter().rev()).take_while(same).count();
    (&left[..left.len() - after], &right[..right.len() - after])
}
