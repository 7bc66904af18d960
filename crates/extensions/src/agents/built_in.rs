//! Agents that come with Pollux. Their definitions are files in the same format as those of users.

use serde_json::{Value, json};

use super::definition::{
    AgentDefinition, AgentModel, AgentOwner, Report, ReportText, agent_definition,
};

/// Returns the built-in agents. The tests read their definitions, too, so none is missing.
pub(super) fn built_in() -> Vec<AgentDefinition> {
    let read = |text| agent_definition(text, &|_| true).ok();
    let investigator =
        read(include_str!("../../agents/codebase_investigator.md")).map(|agent| AgentDefinition {
            query: "Investigate the codebase for this objective:\n<objective>\n${query}\n\
                    </objective>\nReport every file, symbol and connection that matters for it."
                .to_owned(),
            model: INVESTIGATOR_MODEL,
            report: Report::Value { schema: findings(), text: ReportText::Json },
            ..agent
        });
    let help = read(include_str!("../../agents/cli_help.md")).map(|agent| AgentDefinition {
        query: "Answer this question about Pollux:\n<question>\n${query}\n</question>".to_owned(),
        model: HELP_MODEL,
        report: Report::Value { schema: answer(), text: ReportText::AnswerWithSources },
        ..agent
    });
    let generalist =
        read(include_str!("../../agents/generalist.md")).map(|agent| AgentDefinition {
            report: Report::Value { schema: response(), text: ReportText::Response },
            ..agent
        });
    let own = |agent| AgentDefinition { owner: AgentOwner::BuiltIn, ..agent };
    [investigator, help, generalist].into_iter().flatten().map(own).collect()
}

/// Model of the investigator, as in Gemini CLI.
const INVESTIGATOR_MODEL: AgentModel =
    AgentModel::Preferred { modern: "flash", legacy: "gemini-2.5-pro" };
/// Model for questions about Pollux.
const HELP_MODEL: AgentModel = AgentModel::Preferred { modern: "flash", legacy: "flash" };

fn findings() -> Value {
    json!({
        "type": "object",
        "properties": {
            "SummaryOfFindings": {
                "type": "string",
                "description": "The answer to the objective, with reasons and consequences."
            },
            "ExplorationTrace": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The steps of the investigation, in order."
            },
            "RelevantLocations": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "FilePath": {"type": "string"},
                        "Reasoning": {"type": "string"},
                        "KeySymbols": {"type": "array", "items": {"type": "string"}}
                    },
                    "required": ["FilePath", "Reasoning", "KeySymbols"],
                    "additionalProperties": false
                },
                "description": "The files that matter, the most important one first."
            }
        },
        "required": ["SummaryOfFindings", "ExplorationTrace", "RelevantLocations"],
        "additionalProperties": false
    })
}

fn answer() -> Value {
    json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "description": "The answer, in Markdown."},
            "sources": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The paths of the pages that the answer is based on."
            }
        },
        "required": ["answer", "sources"],
        "additionalProperties": false
    })
}

fn response() -> Value {
    json!({
        "type": "object",
        "properties": {
            "response": {
                "type": "string",
                "description": "The report: what was done, the results, and what is left open."
            }
        },
        "required": ["response"],
        "additionalProperties": false
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn all_definitions_are_valid() {
        let agents = built_in();
        let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["codebase_investigator", "cli_help", "generalist"]);
        let limits: Vec<_> =
            agents.iter().map(|agent| (agent.max_turns, agent.time_limit.as_secs() / 60)).collect();
        assert_eq!(limits, [(50, 10), (10, 3), (20, 10)]);
        let scratchpad = &agents[0].instructions;
        for part in ["Checklist", "Questions to resolve", "Key findings", "Irrelevant paths"] {
            assert!(scratchpad.contains(part), "{part}");
        }
        assert!(agents.iter().all(|agent| agent.owner == AgentOwner::BuiltIn));
    }

    #[test]
    fn reports_become_texts() {
        let report = json!({"answer": "A", "sources": ["b.md", "c.md"]});
        let with_sources = ReportText::AnswerWithSources;
        assert_eq!(with_sources.of(&report), "A\n\n**Sources:**\n- b.md\n- c.md");
        assert_eq!(with_sources.of(&json!({"answer": "A", "sources": []})), "A");
        assert_eq!(ReportText::Json.of(&json!({"a": 1})), "{\n  \"a\": 1\n}");
        assert_eq!(ReportText::Response.of(&json!({"response": "R"})), "R");
    }
}
