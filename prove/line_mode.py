"""Text of line mode that the proofs wait for."""

# The label of the prompt: the model and the mode, or only one of them. A command that waits for
# input has the label "input> ".
PROMPT = r"(?!input> )(\S+( \w+)?|\w+ )?> "
