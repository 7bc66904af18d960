//! Filter programs: a search tree over the numbers of system calls.
//!
//! The kernel runs a new filter once for every system call to learn which calls it always allows. A
//! list that is searched from its beginning costs a millisecond, and a tree a few microseconds.

use libc::sock_filter;

/// Offset of the system call number in the data of a filter (`seccomp_data`).
const NUMBER: u32 = 0;
/// Offset of the architecture in the data of a filter.
const ARCHITECTURE: u32 = 4;
/// Offset of the lower half of the first argument, on little-endian processors.
const ARGUMENTS: u32 = 16;
/// Size of an argument, in bytes.
const ARGUMENT: u32 = 8;
/// First number of the x32 ABI.
const X32: u32 = 0x4000_0000;

#[cfg(target_arch = "x86_64")]
const OWN_ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const OWN_ARCHITECTURE: u32 = 0xc000_00b7;
/// Never used, because the levels are not available on other processors.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OWN_ARCHITECTURE: u32 = 0;

/// Treatment of a system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallRule {
    Allowed,
    /// Fails with `ENOSYS`.
    Missing,
    /// Fails with `EPERM`.
    Refused,
    /// Fails with `EPERM` if one of the conditions holds.
    RefusedIf(Vec<CallCondition>),
}

/// Condition on the lower half of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallCondition {
    /// The masked argument equals the value.
    Masked { argument: u32, mask: u32, value: u32 },
    /// The argument differs from the value.
    Not { argument: u32, value: u32 },
}

/// Compiles rules, which are indexed by the number of the system call; `unlisted` is the rule for
/// higher numbers. Programs of another architecture are killed.
pub(super) fn compile(rules: &[CallRule], unlisted: &CallRule) -> Vec<sock_filter> {
    let mut ranges: Vec<(u32, &CallRule)> = Vec::new();
    for (number, rule) in (0..).zip(rules) {
        if ranges.last().is_none_or(|(_, last)| *last != rule) {
            ranges.push((number, rule));
        }
    }
    if ranges.last().is_none_or(|(_, last)| *last != unlisted) {
        ranges.push((rules.len() as u32, unlisted));
    }
    let missing = CallRule::Missing;
    if *unlisted != missing {
        ranges.push((X32, &missing));
    }
    let mut program = vec![
        load(ARCHITECTURE),
        jump(libc::BPF_JEQ, OWN_ARCHITECTURE, 1, 0),
        end(libc::SECCOMP_RET_KILL_PROCESS),
        load(NUMBER),
    ];
    program.extend(tree(&ranges));
    program
}

/// Returns a search in ranges, each given by its first number.
fn tree(ranges: &[(u32, &CallRule)]) -> Vec<sock_filter> {
    if let [(_, rule)] = ranges {
        return leaf(rule);
    }
    let (left, right) = ranges.split_at(ranges.len() / 2);
    let Some((first, _)) = right.first() else { return leaf(&CallRule::Missing) };
    let (left, right_part) = (tree(left), tree(right));
    // Conditional jumps can skip at most 255 instructions.
    let mut whole = vec![
        jump(libc::BPF_JGE, *first, 0, 1),
        step(libc::BPF_JMP | libc::BPF_JA, 0, 0, left.len() as u32),
    ];
    whole.extend(left);
    whole.extend(right_part);
    whole
}

fn leaf(rule: &CallRule) -> Vec<sock_filter> {
    let refused = end(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    match rule {
        CallRule::Allowed => vec![end(libc::SECCOMP_RET_ALLOW)],
        CallRule::Missing => vec![end(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32)],
        CallRule::Refused => vec![refused],
        CallRule::RefusedIf(conditions) => {
            let mut whole = Vec::new();
            for condition in conditions {
                match *condition {
                    CallCondition::Masked { argument, mask, value } => whole.extend([
                        load(ARGUMENTS + ARGUMENT * argument),
                        step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, mask),
                        jump(libc::BPF_JEQ, value, 0, 1),
                        refused,
                    ]),
                    CallCondition::Not { argument, value } => whole.extend([
                        load(ARGUMENTS + ARGUMENT * argument),
                        jump(libc::BPF_JEQ, value, 1, 0),
                        refused,
                    ]),
                }
            }
            whole.push(end(libc::SECCOMP_RET_ALLOW));
            whole
        }
    }
}

fn load(offset: u32) -> sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

fn jump(kind: u32, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    step(libc::BPF_JMP | kind | libc::BPF_K, if_true, if_false, value)
}

fn end(action: u32) -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, 0, 0, action)
}

fn step(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// Runs a program in the same way as the kernel.
    fn run(program: &[sock_filter], architecture: u32, number: u32, arguments: [u32; 2]) -> u32 {
        let (mut place, mut value) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program[place];
            let code = u32::from(code);
            place += 1;
            if code == libc::BPF_RET | libc::BPF_K {
                return k;
            } else if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS {
                value = match k {
                    NUMBER => number,
                    ARCHITECTURE => architecture,
                    ARGUMENTS => arguments[0],
                    _ => arguments[1],
                };
            } else if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K {
                value &= k;
            } else if code == libc::BPF_JMP | libc::BPF_JA {
                place += k as usize;
            } else {
                let is_equal = code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
                let holds = if is_equal { value == k } else { value >= k };
                place += usize::from(if holds { jt } else { jf });
            }
        }
    }

    #[test]
    fn each_call_gets_its_rule() {
        let condition = CallCondition::Masked { argument: 1, mask: 0xf, value: 2 };
        let conditional = CallRule::RefusedIf(vec![condition]);
        let zero = CallRule::RefusedIf(vec![CallCondition::Not { argument: 0, value: 0 }]);
        let kinds = [CallRule::Allowed, CallRule::Missing, CallRule::Refused, conditional, zero];
        let rules: Vec<CallRule> = (0..500).map(|call| kinds[call / 3 % 5].clone()).collect();
        let program = compile(&rules, &CallRule::Allowed);
        let allowed = libc::SECCOMP_RET_ALLOW;
        let missing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        for number in 0..500 {
            let result = |arguments| run(&program, OWN_ARCHITECTURE, number, arguments);
            let results = [result([0, 0x82]), result([7, 0x81])];
            let expected = match &rules[number as usize] {
                CallRule::Allowed => [allowed; 2],
                CallRule::Missing => [missing; 2],
                CallRule::Refused => [refused; 2],
                rule if *rule == kinds[3] => [refused, allowed],
                CallRule::RefusedIf(_) => [allowed, refused],
            };
            assert_eq!(results, expected, "{number}");
        }
        assert_eq!(run(&program, OWN_ARCHITECTURE, 500, [0, 0]), allowed);
        assert_eq!(run(&program, OWN_ARCHITECTURE, X32 + 1, [0, 0]), missing);
        assert_eq!(run(&program, 3, 0, [0, 0]), libc::SECCOMP_RET_KILL_PROCESS);
    }
}
