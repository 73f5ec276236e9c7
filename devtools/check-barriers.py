#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Check that each barrier of lib/comch and drivers/comch names its model.

A barrier is an acquire, a release or a fence. A comment in its statement or above its function
must say "MODEL.pml, LABEL", where LABEL marks the barrier in test/model/MODEL.pml, or
"No model: REASON". test/model/run.sh checks that the model fails without it: automatically if
the model includes memory.h, otherwise by a case NO_LABEL. A label that no comment names is an
error, too. Wrappers such as comch_load_acquire() are checked where they are used.
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
MODELS = TOP / 'test/model'

BARRIER = re.compile(r'\b(?:comch_load_acquire|comch_store_release|peer_load_acquire\w*'
                     r'|comch_fence_\w+|__ATOMIC_(?:CONSUME|ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)'
                     r'|memory_order_(?:consume|acquire|release|acq_rel|seq_cst)'
                     r'|(?:rte_(?:smp_|io_|cio_)?[rw]?mb|rte_atomic_thread_fence'
                     r'|__sync_\w+|comch_clock_fence_\w+)\b)')
COMMENT = re.compile(r'/\*.*?\*/', re.S)
NAMED = re.compile(r'\b(\w+)\.pml, (\w+)')
REASON = re.compile(r'\bNo model: \w+')
OPERATION = re.compile(r'^(\w+):\s+(?:store|load|rmw|fence)_\w+\(', re.M)
LABEL = re.compile(r'^(\w+):\s', re.M)


def blank(match):
    """As many lines and columns of nothing."""
    return re.sub(r'[^\n]', ' ', match.group())


def without_inner_semicolons(code):
    """The code with ; only where a statement ends."""
    depth = 0
    out = []
    for char in code:
        depth += (char == '(') - (char == ')')
        if char == '\n' and depth < 0:
            depth = 0
        out.append(',' if char == ';' and depth > 0 else char)
    return ''.join(out)


def comments_at(text, code, at):
    """The comments of the statement at an offset, and those above its function."""
    begin = max(code.rfind(c, 0, at) for c in ';{}')
    line = code.rfind('\n', 0, at) + 1
    if code[line:line + 1] == '#':
        # A macro: with the comment above its first line.
        before = code[:line].rstrip(' \n')
        begin, end = len(before), code.find('\n', at)
    else:
        begin = text.find('\n', begin)
        end = min(i for i in (code.find(c, at) for c in ';{') if i >= 0)
        end = text.find('\n', end)
    found = COMMENT.findall(text[begin:end])
    function = code.rfind('\n{', 0, at)
    if function > 0:
        head = text.rfind('\n\n', 0, function)
        found += COMMENT.findall(text[head:function])
    return ' '.join(found)


def is_wrapper(code, at):
    """Is this in the definition of something that is a barrier itself, or in its declaration?"""
    line = code[code.rfind('\n', 0, at) + 1:]
    if line[0] == '#':
        return BARRIER.search(line.split()[1]) is not None
    if re.match(r'(?:\w+ )*\w+\((?:void|(?:const )?\w+ \*?\w+)\)[;\n]', line):
        return True
    function = re.findall(r'^(\w+)\([^{}]*\)\n\{', code[:at], re.M)
    return bool(function) and BARRIER.match(function[-1]) is not None


def flat(comment):
    """A comment in one line."""
    return re.sub(r'\s*\n\s*\*?\s*', ' ', comment)


def labels_of(model):
    """The barriers' labels of a model: with a variant that lacks it."""
    text = model.read_text()
    if '#include "memory.h"' in text:
        return set(OPERATION.findall(text))
    cases = (MODELS / 'run.sh').read_text()
    return {label for label in LABEL.findall(text)
            if re.search(rf'"{model.stem}:[^:]*\bNO_{label.upper()}\b[^:]*:bad"', cases)}


def main():
    """Print errors; return the number of barriers without a model."""
    labels = {model.stem: labels_of(model) for model in sorted(MODELS.glob('*.pml'))}
    named = set()
    errors = 0
    files = [f for top in ('lib/comch', 'drivers/comch') for suffix in ('h', 'c')
             for f in sorted((TOP / top).rglob(f'*.{suffix}'))]
    for file in files:
        text = file.read_text()
        code = without_inner_semicolons(COMMENT.sub(blank, text))
        for match in BARRIER.finditer(code):
            if is_wrapper(code, match.start()):
                continue
            where = f'{file.relative_to(TOP)}:{code.count(chr(10), 0, match.start()) + 1}'
            comment = flat(comments_at(text, code, match.start()))
            pairs = NAMED.findall(comment)
            named.update(pairs)
            wrong = [f'{m}.pml, {label}' for m, label in pairs if label not in labels.get(m, ())]
            if wrong:
                print(f'{where}: no barrier at that label of the model: {wrong[0]}')
                errors += 1
            elif not pairs and not REASON.search(comment):
                print(f'{where}: {match.group()}: the comment names no model ("MODEL.pml, LABEL" '
                      'or "No model: REASON")')
                errors += 1
    for model, known in labels.items():
        for label in sorted(known - {label for m, label in named if m == model}):
            print(f'test/model/{model}.pml: no barrier of the code names label {label}')
            errors += 1
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
