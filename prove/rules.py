"""The rules of the Gemini API for a conversation.

A request that breaks a rule is refused, and so is every later request of that conversation."""

from collections import Counter

# Signature that stands for the missing signature of a call, only while its prompt is in progress.
NO_SIGNATURE = "skip_thought_signature_validator"


def broken_rule(contents):
    """Describes the first rule that a request's `contents` break; empty if there is none.

    User and model alternate and the user begins, nothing is empty, and every call is answered
    exactly once in the very next content.
    """
    if not contents:
        return "no contents"
    opened = Counter()
    for number, content in enumerate(contents):
        expected = "model" if number % 2 else "user"
        if content.get("role") != expected:
            return f"contents[{number}]: {content.get('role')} where {expected} must speak"
        parts = content.get("parts")
        if not parts:
            return f"contents[{number}]: no parts"
        for part in parts:
            if part.get("text") == "" and "thoughtSignature" not in part:
                return f"contents[{number}]: an empty text"
            if call := part.get("functionCall"):
                if expected == "user":
                    return f"contents[{number}]: a call by the user"
                opened[_key(call)] += 1
            if response := part.get("functionResponse"):
                if opened[_key(response)] == 0:
                    return f"contents[{number}]: a response to no open call: {_key(response)}"
                opened[_key(response)] -= 1
        if expected == "user" and opened.total():
            return f"contents[{number}]: a call without its response: {next(opened.elements())}"
    return "the model speaks last" if len(contents) % 2 == 0 else None


def _key(named):
    return named.get("id"), named.get("name")


def plain(contents):
    """Returns contents without the signature that stands for a missing one."""
    def without(part):
        is_filler = part.get("thoughtSignature") == NO_SIGNATURE
        return {name: value for name, value in part.items() if not is_filler or name != "thoughtSignature"}

    return [{**content, "parts": [without(part) for part in content["parts"]]} for content in contents]
