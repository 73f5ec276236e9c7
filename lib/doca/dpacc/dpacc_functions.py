# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Find marked functions in preprocessed C.

Not a parser of C: it follows external declarations, and looks closely only at
those with a mark. What it cannot make out is an error, with its place.
"""

import re

MARKS = ("__dpa_global__", "__dpa_rpc__")

TOKEN = re.compile(r"""
    (?P<line>^[ \t]*\#[^\n]*) | (?P<newline>\n) | (?P<space>[ \t\r\f\v]+)
    | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|[uUL]?'(?:[^'\\\n]|\\.)*')
    | (?P<name>[^\W\d][\w$]*|\$[\w$]*) | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    | (?P<mark>\.\.\.|.)
    """, re.X | re.M)
LINEMARKER = re.compile(r'[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)[ \t]*"((?:[^"\\]|\\.)*)"')
CLOSING = {"(": ")", "[": "]", "{": "}"}
WITH_BRACKETS = {"__attribute__", "__attribute", "_Alignas", "alignas", "asm", "__asm__",
                 "__asm"}
TYPE_OF = {"typeof", "__typeof__", "__typeof", "_Atomic", "_BitInt"}
STORAGE = {"extern", "_Noreturn", "noreturn", "register", "__extension__"}
QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__restrict__", "_Atomic",
              "__const", "__volatile__"}
BASIC = {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned",
         "__signed__", "_Bool", "bool", "_Complex", "__int128", "__int128_t", "_Float16",
         "_Float32", "_Float64", "_Float128", "__float128"}
TAGGED = {"struct", "union", "enum"}
KEYWORDS = QUALIFIERS | BASIC | TAGGED | STORAGE | TYPE_OF
NOT_FOR_THE_HOST = ("static", "inline", "__inline", "__inline__")


class Failure(Exception):
    """An error in a file, or a failed command."""


class Token(str):
    """A C token with its position."""

    __slots__ = ("file", "line")


def fail_at(place, text):
    """Raise an error at a position in a file."""
    raise Failure(f"{place.file}:{place.line}: error: {text}")


def is_name(word):
    """Return whether a token is an identifier or keyword."""
    return word[0].isalpha() or word[0] in "_$"


def tokens(text):
    """Return the tokens of preprocessed text."""
    file, line, words = "?", 0, []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "newline":
            line += 1
        elif kind == "line":
            marker = LINEMARKER.match(match.group())
            if marker:
                # The newline after a line marker is not part of the file.
                line = int(marker.group(1)) - 1
                file = re.sub(r"\\(.)", r"\1", marker.group(2))
        elif kind != "space":
            token = Token(match.group())
            token.file, token.line = file, line
            words.append(token)
    return words


def group_end(words, begin):
    """Return the index after the bracket that matches the one at begin."""
    depth = 0
    for i in range(begin, len(words)):
        depth += (words[i] in CLOSING) - (words[i] in CLOSING.values())
        if depth == 0:
            return i + 1
    return len(words)


def without_attributes(words):
    """Return tokens without attributes and alignments, at any depth."""
    result = []
    i = 0
    while i < len(words):
        if words[i] in WITH_BRACKETS and words[i + 1:i + 2] == ["("]:
            i = group_end(words, i + 1)
        elif words[i] == "[" and words[i + 1:i + 2] == ["["]:
            i = group_end(words, i)
        else:
            result.append(words[i])
            i += 1
    return result


def declarations(words):
    """Yield (tokens, whether it defines a function) for each external declaration,
    without the contents of { }.
    """
    i = 0
    head = []
    while i < len(words):
        end = group_end(words, i) if words[i] in CLOSING else i + 1
        if words[i] == "{":
            seen = without_attributes(head)
            if seen and seen[-1] == ")" and "=" not in seen:
                yield head, True
                head = []
            else:
                head += ["{", "}"]
        elif words[i] == ";":
            if head:
                yield head, False
            head = []
        else:
            head += words[i:end]
        i = end


class Function:
    """A function that the host can refer to."""

    def __init__(self, name, mark, result, parameters):
        self.name = name
        self.mark = mark
        self.result = result          # tokens
        self.parameters = parameters  # tokens per parameter
        self.file, self.line = name.file, name.line

    @property
    def returns(self):
        """Whether it returns a value."""
        return [word for word in self.result if word not in QUALIFIERS] != ["void"]


def function_head(head):
    """Return (specifiers, name, parameters, rest), or None if it is not a function."""
    words = [word for word in without_attributes(head) if word not in MARKS]
    i = 0
    while i < len(words) and words[i] not in ("=", "{"):
        if words[i] == "(":
            name, end = words[i - 1] if i > 0 else "(", group_end(words, i)
            if is_name(name) and name not in KEYWORDS:
                return words[:i - 1], name, words[i + 1:end - 1], words[end:]
            if name not in TYPE_OF:
                return None
            i = end
        else:
            i += 1
    return None


def parameters_of(name, words):
    """Return the tokens of each parameter."""
    parameters, depth = [[]], 0
    for word in words:
        depth += (word in CLOSING) - (word in CLOSING.values())
        if word == "," and depth == 0:
            parameters.append([])
        elif word == "..." and depth == 0:
            fail_at(name, f"'{name}' has a variable number of arguments: "
                    "the host cannot call it")
        else:
            parameters[-1].append(word)
    return [] if parameters in ([[]], [["void"]]) else parameters


def marked_function(head, mark):
    """Return the Function for a marked definition."""
    found = function_head(head)
    if found is None:
        place = next((word for word in head if word in MARKS), head[0])
        fail_at(place, f"expected {mark} TYPE NAME(TYPE NAME, ...)")
    specifiers, name, words, rest = found
    if rest:
        fail_at(name, f"'{name}' has old-style parameters: declare them within ( )")
    for word in NOT_FOR_THE_HOST:
        if word in specifiers:
            fail_at(name, f"'{name}' is {word}: the host cannot refer to it")
    result = [word for word in specifiers if word not in STORAGE]
    function = Function(name, mark, result, parameters_of(name, words))
    if mark == "__dpa_global__" and function.returns:
        fail_at(name, f"'{name}' is a kernel but returns {' '.join(result) or 'int'}")
    return function


def find_functions(text):
    """Return the functions marked at their definition or an earlier declaration."""
    marked, functions = {}, {}
    for head, is_definition in declarations(tokens(text)):
        marks = sorted({word for word in head if word in MARKS})
        found = None if head[0] == "typedef" else function_head(head)
        name = found and found[1]
        if not marks and name not in marked:
            continue
        if name is not None and len({*marks, marked.setdefault(name, *marks[:1])}) > 1:
            fail_at(name, f"'{name}' is marked both as a kernel and as an RPC")
        if is_definition:
            function = marked_function(head, marked[name] if name else marks[0])
            if functions.setdefault(function.name, function) is not function:
                fail_at(function, f"'{function.name}' is defined twice")
        elif found is not None and marks and found[3]:
            fail_at(name, f"'{name}' has old-style parameters: declare them within ( )")
    return list(functions.values())


def name_at(words):
    """Return the index of a parameter's name, or None if it has none."""
    at, has_type, is_tag, i = None, False, False, 0
    while i < len(words) and words[i] != "[":
        word = words[i]
        end = i + 1
        if word == "(":
            # The name is inside, for a pointer to a function or an array.
            inner = name_at(["int", *words[i + 1:group_end(words, i) - 1]])
            return at if at is not None or inner is None else i + inner
        if word in TYPE_OF and words[end:end + 1] == ["("]:
            has_type, end = True, group_end(words, end)
        elif is_name(word) and word not in KEYWORDS:
            if has_type and not is_tag:
                at = i
            has_type = True
        elif word in BASIC:
            has_type = True
        is_tag = word in TAGGED
        i = end
    return at


def parameter(function, number):
    """Return the tokens before and after a parameter's name."""
    words = [word for word in without_attributes(function.parameters[number])
             if word not in MARKS and word not in STORAGE]
    at = name_at(words)
    if at is None:
        fail_at(function, f"parameter {number + 1} of '{function.name}' has no name")
    before, behind = words[:at], words[at + 1:]
    if behind[:1] == ["["]:
        return [*before, "(", "*"], [")", *behind[group_end(behind, 0):]]
    if behind[:1] == ["("]:
        return [*before, "(", "*"], [")", *behind]
    return before, behind
