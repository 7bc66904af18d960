//! Definitions of subagents: any text is an agent with a valid name, a description in one line and
//! limits, or an error without control characters.

use pollux_extensions::agents::agent_definition;

pub(crate) fn run(text: &str) {
    let agent = match agent_definition(text, &|name| name.len() < 8) {
        Ok(agent) => agent,
        Err(error) => {
            let message = error.to_string();
            let is_bad = |letter: char| letter.is_control() && letter != '\n';
            assert!(!message.contains(is_bad) && message.len() < 200_000, "{message:?}");
            return;
        }
    };
    let is_letter = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter)
    };
    assert!(!agent.name.is_empty() && agent.name.chars().all(is_letter), "{:?}", agent.name);
    assert!(!agent.description.is_empty(), "no description");
    assert!(!agent.description.contains(char::is_control), "{:?}", agent.description);
    assert!(agent.max_turns > 0 && !agent.time_limit.is_zero(), "{agent:?}");
    assert!(text.contains(&agent.instructions), "{:?}", agent.instructions);
    assert_eq!(agent.message(text), text);
}
