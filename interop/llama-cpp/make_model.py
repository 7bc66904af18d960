"""Writes a model for llama.cpp that says what a script says.

    make_model.py FILE

Attention and the feed-forward layer are zero, so that each token alone determines the next one: its
embedding is one axis, and the row of its successor in the output matrix is that axis. A token for
each byte reads the prompt. Further tokens are the pieces of two answers: one with a tool call, and
one that follows a tool's result, for which the chat template ends the prompt in another byte.
"""

import sys

import gguf
import numpy

# Dimension of the embeddings: at least the number of tokens.
SIZE = 512
HEAD = 32
CONTEXT = 65536
# Pieces of the answers, as bytes: no two are the same, none is a single byte, and a character is cut.
CALL = [b"Let ", b"me look \xc3", b"\xbc.\n", b"<tool_call>", b'\n{"name": "', b"list_", b"directory", b'", "arg',
        b'uments": ', b'{"dir_path"', b': "', b'."}', b"}\n", b"</tool_call>"]
ANSWER = [b"There ", b"is ", b"one ", b"file."]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# The last byte of the prompt decides which answer follows.
BEFORE_CALL, BEFORE_ANSWER = "\n", "\t"

TEMPLATE = """\
{%- if tools %}{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- '# Tools\\n\\nYou may call functions. Their signatures are within <tools></tools> XML tags:\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\n\\nFor each call, return a JSON object within <tool_call></tool_call> XML tags:' }}
{{- '\\n<tool_call>\\n{"name": <function-name>, "arguments": <args-json-object>}\\n</tool_call><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}{{- '<|im_start|>assistant\\n' }}
{%- if message.content %}{{- message.content }}{%- endif %}
{%- for call in message.tool_calls %}
{%- set call = call.function %}
{{- '\\n<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}{{- call.arguments | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}
{%- if messages[-1].role == 'tool' %}{{- '\\t' }}{%- endif %}
{%- endif %}"""


def alphabet():
    """Returns the character that stands for each byte in a vocabulary of bytes, as GPT-2 has it."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {byte: chr(byte) for byte in shown} | {byte: chr(256 + n) for n, byte in enumerate(hidden)}


def main():
    of_byte = alphabet()
    bytes_ = [of_byte[byte] for byte in range(256)]
    # Two spaces are the only pair that is merged, because the format requires a merge.
    merged = of_byte[ord(" ")] * 2
    pieces = ["".join(of_byte[byte] for byte in piece) for piece in CALL + ANSWER]
    tokens = [*bytes_, merged, *pieces, *SPECIAL]
    number = {token: index for index, token in enumerate(tokens)}
    end = number["<|im_end|>"]
    follows = numpy.arange(SIZE) * 0 + end
    for before, script in ((BEFORE_CALL, CALL), (BEFORE_ANSWER, ANSWER)):
        at = number[of_byte[ord(before)]]
        for piece in script:
            follows[at] = at = number["".join(of_byte[byte] for byte in piece)]
    output = numpy.zeros((SIZE, SIZE), numpy.float32)
    output[follows, numpy.arange(SIZE)] = 1

    writer = gguf.GGUFWriter(sys.argv[1], "llama")
    writer.add_name("script")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(SIZE)
    writer.add_feed_forward_length(HEAD)
    writer.add_block_count(1)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_rope_dimension_count(HEAD)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(SIZE)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    spare = [f"<|spare{index}|>" for index in range(SIZE - len(tokens))]
    kinds = [gguf.TokenType.NORMAL] * (len(tokens) - len(SPECIAL))
    kinds += [gguf.TokenType.CONTROL] * len(SPECIAL) + [gguf.TokenType.UNUSED] * len(spare)
    writer.add_token_list(tokens + spare)
    writer.add_token_types(kinds)
    writer.add_token_merges([f"{merged[0]} {merged[0]}"])
    writer.add_eos_token_id(end)
    writer.add_bos_token_id(number["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    writer.add_tensor("token_embd.weight", numpy.eye(SIZE, dtype=numpy.float32))
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", numpy.ones(SIZE, numpy.float32))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", numpy.ones(SIZE, numpy.float32))
    for name in ("attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"):
        writer.add_tensor(f"blk.0.{name}.weight", numpy.zeros((HEAD, SIZE), numpy.float32))
    for name in ("attn_output", "ffn_down"):
        writer.add_tensor(f"blk.0.{name}.weight", numpy.zeros((SIZE, HEAD), numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
