"""The corpus of the edit proof: realistic files, an edit of each, and the expected result.

The expected results are computed here, independent of the program."""

import itertools
from dataclasses import dataclass, field

# Encodings by name: the byte order mark, Python's codec, and text of a language that uses the
# encoding.
ENCODINGS = {
    "utf8": (b"", "utf-8", "häuser, naïve, 日本語 😀"),
    "utf8_bom": (b"\xef\xbb\xbf", "utf-8", "häuser, naïve, 日本語 😀"),
    "utf16le": (b"\xff\xfe", "utf-16-le", "häuser, naïve, 日本語 😀"),
    "utf16be": (b"\xfe\xff", "utf-16-be", "häuser, naïve, 日本語 😀"),
    "cp1252": (b"", "cp1252", "Häuser, naïve Cafés – “schön” für 5 €"),
    "shift_jis": (b"", "shift_jis", "これは日本語の文章です。漢字とかなを含みます。"),
}
ENDINGS = {"lf": ("\n",), "crlf": ("\r\n",), "mixed": ("\n", "\r\n")}


@dataclass
class Case:
    """One edit. `prefix` and `suffix` are bytes that must stay, and `middle` is the text between
    them with plain line ends; without `middle` the file must stay the same. The result for the
    model must contain `words`."""

    name: str
    path: str
    before: bytes
    arguments: dict
    codec: str = "utf-8"
    prefix: bytes = b""
    suffix: bytes = b""
    middle: str | None = None
    words: tuple = ()
    exists: bool = True
    beside: dict = field(default_factory=dict)


def all_cases():
    """Returns all cases, in a fixed order."""
    makers = (encodings, whitespace, misquoted, look_alikes, refused, shapes, many, large)
    cases = list(itertools.chain.from_iterable(maker() for maker in makers))
    names = [case.name for case in cases]
    if len(set(names)) != len(names):
        raise ValueError("two cases have one name")
    return cases


def edit(path, old, new, **more):
    return {"file_path": path, "instruction": "change it", "old_string": old, "new_string": new, **more}


def _lines(texts, endings, ended):
    """Returns the texts as lines, with these line ends in turn."""
    ends = itertools.cycle(endings)
    lines = [text + next(ends) for text in texts]
    if not ended:
        lines[-1] = texts[-1]
    return lines


def encodings():
    """Makes one exact edit in each encoding, with each kind of line end, at each place of the
    file."""
    places = {"first": (0, 1), "middle": (3, 1), "several": (2, 3), "last": (6, 1)}
    changes = {"other": "changed {}", "longer": "changed {}\nand more\nand more", "shorter": ""}
    product = itertools.product(ENCODINGS, ENDINGS, (True, False), places, changes)
    for encoding, ending, ended, place, change in product:
        # To keep the corpus small enough for frequent runs, not every change is made at every
        # place.
        if (place, change) in {("first", "longer"), ("several", "other"), ("last", "longer"), ("middle", "shorter")}:
            continue
        mark, codec, words = ENCODINGS[encoding]
        texts = [f"line {number} {words} {'x' * number}" for number in range(7)]
        lines = _lines(texts, ENDINGS[ending], ended)
        at, count = places[place]
        chosen = lines[at : at + count]
        old = "".join(chosen).replace("\r\n", "\n").removesuffix("\n")
        tail = chosen[-1][len(texts[at + count - 1]) :]
        new = changes[change].format(words)
        name = f"{encoding}_{ending}_{'ended' if ended else 'open'}_{place}_{change}"
        yield Case(
            name,
            f"{name}.txt",
            mark + "".join(lines).encode(codec),
            edit(f"{name}.txt", old, new),
            codec,
            prefix=mark + "".join(lines[:at]).encode(codec),
            suffix=(tail + "".join(lines[at + count :])).encode(codec),
            middle=new,
        )


def whitespace():
    """Edits with wrong indentation by the model: the file's own is kept, and the new text follows
    it."""
    body = ["if a {", "    call(b);", "    call(c);", "}"]
    for indent, ending in itertools.product(("\t", "    ", "\t\t", "  "), ENDINGS):
        lines = _lines(["fn f() {"] + [indent + line for line in body] + ["}"], ENDINGS[ending], True)
        name = f"indent_{len(indent)}{'t' if indent[0] == chr(9) else 's'}_{ending}"
        new = ["if a {", "    call(d);", "}"]
        yield Case(
            name,
            f"{name}.rs",
            "".join(lines).encode(),
            edit(f"{name}.rs", "\n".join(body), "\n".join(new)),
            prefix=lines[0].encode(),
            suffix=lines[-1].encode(),
            middle="".join(f"{indent}{line}\n" for line in new),
        )
    for name, text in {"trailing": "a = 1   \nb = 2\t\n", "blank": "a = 1\n\n\nb = 2\n"}.items():
        before = "start\n" + text + "end\n"
        yield Case(
            f"exact_{name}",
            f"exact_{name}.txt",
            before.encode(),
            edit(f"exact_{name}.txt", text.removesuffix("\n"), "c = 3"),
            prefix=b"start\n",
            suffix=b"\nend\n",
            middle="c = 3",
        )


def misquoted():
    """Edits that quote a block with other white space: the result is that of the exact edit, and kept
    lines keep their bytes. With another word or number the edit is refused."""
    block = [(1, "if ready:"), (2, "total  = 1000"), (2, "say('a  b')  "), (3, "more()"), (1, "done()")]
    edits = {
        "changed": (2, 1, [(2, "say('c')  ")]),
        "inserted": (3, 0, [(2, "if late:"), (3, "wait()")]),
        "first": (0, 0, [(1, "begin()")]),
        "last": (5, 0, [(1, "end()")]),
        "deleted": (1, 2, []),
        "deeper": (1, 3, [(2, "try:"), (3, "total  = 1000"), (3, "say('a  b')  "), (4, "more()")]),
        "two": (1, 4, [(2, "total  = 1"), (2, "say('a  b')  "), (3, "more()"), (1, "finished()")]),
    }
    units = {"tab": "\t", "two": "  ", "four": "    "}
    for (own, other), ending, name in itertools.product(itertools.permutations(units, 2), ENDINGS, edits):
        at, count, new = edits[name]
        changed = block[:at] + new + block[at + count :]
        lines = _lines(["def f():", *_block(block, units[own], 0), "f()"], ENDINGS[ending], True)
        for style, quote in {"moved": _squeezed, "drift": _drifted}.items():
            if style == "drift" and name == "deeper":
                continue
            path = f"misquoted_{own}_{other}_{ending}_{name}_{style}.py"
            old = "\n".join(quote(block, units[other])) + "\n"
            middle = "\n".join(_block(changed, units[own], 0)) + "\n"
            yield Case(path, path, "".join(lines).encode(),
                       edit(path, old, "\n".join(quote(changed, units[other])) + "\n"),
                       prefix=lines[0].encode(), suffix=lines[-1].encode(), middle=middle)
            for damage, (right, wrong) in {"number": ("1000", "100"), "word": ("done", "did")}.items():
                if name == "inserted":
                    wrong_old, wrong_new = (
                        "\n".join(quote(texts, units[other])).replace(right, wrong) for texts in (block, changed))
                    path = f"misquoted_{damage}_{own}_{other}_{ending}_{style}.py"
                    yield Case(path, path, "".join(lines).encode(), edit(path, wrong_old, wrong_new),
                               words=("Could not find an exact match", right, wrong))


def _block(block, unit, less):
    return [unit * (depth - less) + text for depth, text in block]


def _squeezed(block, unit):
    """Returns the block as it is quoted from its own depth, with single blanks."""
    return [line.replace("  =", " =").replace("a  b", "a b").rstrip() for line in _block(block, unit, 1)]


def _drifted(block, unit):
    """Returns the block as it is quoted with a blank too many in its deep lines."""
    return [(" " if depth > 1 else "") + unit * depth + text for depth, text in block]


def look_alikes():
    """Edits of characters that look alike but differ: only the intended ones change."""
    pairs = {
        "nfc_nfd": ("caf\u00e9", "cafe\u0301"),
        "latin_cyrillic": ("ab\u0061", "ab\u0430"),
        "dashes": ("a-b", "a\u2013b"),
        "quotes": ('say "x"', "say \u201cx\u201d"),
        "spaces": ("a b", "a\u00a0b"),
        "zero_width": ("ab", "a\u200bb"),
        "full_width": ("A1", "\uff21\uff11"),
        "ligature": ("fi", "\ufb01"),
    }
    for name, (one, other) in pairs.items():
        for order, (wanted, beside) in {"first": (one, other), "second": (other, one)}.items():
            before = f"x = {beside};\ny = {wanted};\nz = {beside};\n"
            path = f"{name}_{order}.txt"
            yield Case(
                f"alike_{name}_{order}",
                path,
                before.encode(),
                edit(path, f"y = {wanted};", "y = new;"),
                prefix=f"x = {beside};\n".encode(),
                suffix=f"\nz = {beside};\n".encode(),
                middle="y = new;",
            )


def refused():
    """Edits that must leave the file unchanged, with the error message for the model."""
    twice = "a = 1\nb = 2\na = 1\n"
    yield Case("duplicate", "dup.txt", twice.encode(), edit("dup.txt", "a = 1", "a = 3"),
               words=("Expected 1 occurrence but found 2", "lines 1, 3"))
    yield Case("absent", "abs.txt", b"alpha beta gamma\ndelta\n", edit("abs.txt", "alpha beta zzzzzzzzzzz", "x"),
               words=("Could not find an exact match", "1: alpha beta gamma"))
    yield Case("equal", "eq.txt", b"same\n", edit("eq.txt", "same", "same"), words=("No changes to apply",))
    yield Case("exists", "old.txt", b"here\n", edit("old.txt", "", "new"), words=("File already exists",))
    yield Case("nothing", "none.txt", b"", edit("none.txt", "x", "y"), words=("File not found",), exists=False)
    yield Case("empty_file", "empty.txt", b"", edit("empty.txt", "x", "y"), words=("Could not find an exact match",))
    yield Case("placeholder", "ph.txt", b"fn a() {}\n", edit("ph.txt", "fn a() {}", "fn a() {\n// rest of code ...\n}"),
               words=("rest of",))
    yield Case("unwritable_letter", "win.txt", "Häuser für 5 € – schön\n".encode("cp1252"),
               edit("win.txt", "Häuser", "日本"), "cp1252")
    yield Case("binary", "bin.dat", bytes(range(256)) * 8, edit("bin.dat", "ABC", "XYZ"), "latin-1",
               words=("Expected 1 occurrence but found 8",))
    for number, (text, old) in enumerate((("a\nb\na\nb\n", "a"), ("x x x\n", "x"), ("}\n}\n", "}"), ("\n\n\n", "\n"))):
        path = f"dups{number}.txt"
        yield Case(f"duplicates_{number}", path, text.encode(), edit(path, old, "new"), words=("Expected 1 occurrence",))


def shapes():
    """New files, replacement of all places, deletion, and text with a special meaning elsewhere."""
    yield Case("created", "new/deep/a.txt", b"", edit("new/deep/a.txt", "", "first\nsecond\n"),
               middle="first\nsecond\n", exists=False)
    for ending, ends in ENDINGS.items():
        lines = _lines(["k = 1", "keep", "k = 1", "keep", "k = 1"], ends, True)
        path = f"all_{ending}.txt"
        yield Case(f"all_{ending}", path, "".join(lines).encode(), edit(path, "k = 1", "k = 2", allow_multiple=True),
                   prefix=b"k = 2", suffix=("k = 2" + lines[4][5:]).encode(),
                   middle="".join(lines[:4])[5:].replace("k = 1", "k = 2").replace("\r\n", "\n"))
    for name, text in {"dollar": "$1 $& $$ ${x}", "backslash": "\\1 \\n \\\\", "regex": "(a|b)*[c]+?^$.",
                       "braces": "{{x}} %s %d", "markup": "<b>&amp;</b>", "quotes": "'\"`\"'", "nul_word": "\\0 \\x00"}.items():
        before = f"start\nOLD {text}\nend\n"
        yield Case(f"literal_new_{name}", f"new_{name}.txt", b"start\nOLD\nend\n", edit(f"new_{name}.txt", "OLD", text),
                   prefix=b"start\n", suffix=b"\nend\n", middle=text)
        yield Case(f"literal_old_{name}", f"old_{name}.txt", before.encode(), edit(f"old_{name}.txt", f"OLD {text}", "NEW"),
                   prefix=b"start\n", suffix=b"\nend\n", middle="NEW")
    octets = bytes(range(256))
    yield Case("binary_once", "once.dat", octets, edit("once.dat", "ABC", "XYZ"), "latin-1",
               prefix=octets[:65], suffix=octets[68:], middle="XYZ")
    yield Case("whole_file_deleted", "gone.txt", b"x\n", edit("gone.txt", "x\n", ""), middle="")
    yield Case("one_long_line", "long.txt", b"a" * 5000 + b"MARK" + b"b" * 5000, edit("long.txt", "MARK", "X"),
               prefix=b"a" * 5000, suffix=b"b" * 5000, middle="X")
    yield Case("only_ends", "ends.txt", b"a\r\n\r\n\r\nb\r\n", edit("ends.txt", "a\n\n\nb", "a\nb"),
               prefix=b"a\r\n", suffix=b"b\r\n", middle="")


def many():
    """Edits of each line of a file in turn, which must leave the rest unchanged."""
    texts = ["def f(x):", "    if x:", "        return [1, 2]", "", "    # note: é 日本", "    return None", "\tweird = 1  ", "end"]
    for number, text in enumerate(texts):
        if not text:
            continue
        for ending, ends in ENDINGS.items():
            lines = _lines(texts, ends, True)
            path = f"each_{number}_{ending}.py"
            tail = lines[number][len(text) :]
            yield Case(f"each_{number}_{ending}", path, "".join(lines).encode(), edit(path, text, f"{text}!"),
                       prefix="".join(lines[:number]).encode(), suffix=(tail + "".join(lines[number + 1 :])).encode(),
                       middle=f"{text}!")


def large():
    """Edits of files of five megabytes."""
    lines = [f"line {number} of a large file, with some more words to fill it" for number in range(80_000)]
    for place in (0, 40_000, 79_999):
        path = f"large_{place}.txt"
        before = "\n".join(lines) + "\n"
        at = before.index(lines[place] + "\n")
        end = at + len(lines[place])
        yield Case(f"large_{place}", path, before.encode(), edit(path, lines[place] + "\n", "changed\n"),
                   prefix=before[:at].encode(), suffix=before[end:].encode(), middle="changed")
