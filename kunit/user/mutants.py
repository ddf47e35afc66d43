#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Breaks the code on purpose, one small change at a time, to see a test fail.

    mutants.py lib <dir>    the helper, against the model, for which <dir> has room
    mutants.py <suite>      a conversion, against its suite under UML; the patched
                            tree is $TREE, the command that tests it follows

A mutant that survives is a missing test, unless mutants.equivalent says why it
behaves like the original.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))

# What each suite tests.
FILES = {
    'vmscan': 'mm/vmscan.c',
    'fs_writeback': 'fs/fs-writeback.c',
    'vmstat': 'mm/vmstat.c',
    'neighbour': 'net/core/neighbour.c',
    'ext4_extents_status': 'fs/ext4/extents_status.c',
}

# What is changed into what: an operator, a constant, a condition.
RULES = [
    (r'(?<=[\w)\]]) >= (?=[\w(])', [' > ', ' < ']),
    (r'(?<=[\w)\]]) < (?=[\w(&-])', [' <= ', ' >= ']),
    (r' == ', [' != ']),
    (r' != ', [' == ']),
    (r' && ?', [' || ']),
    (r' \|\| ?', [' && ']),
    (r'(?<=[\w)\]]) \+ (?=[\w(])', [' - ']),
    (r'(?<=[\w)\]]) - (?=[\w(])', [' + ']),
    (r' \+= ', [' -= ', ' = ']),
    (r'(?<!\w)--(?=\w)', ['++']),
    (r'\+\+', ['--']),
    (r'(?<=[ (])!(?=[\w(])', ['']),
    (r'\btrue\b', ['false']),
    (r'\bfalse\b', ['true']),
    (r'\b0\b', ['1']),
    (r'\b1\b', ['0', '2']),
    (r'\b(1024|8|16|32U|4096U)\b', ['(\\1 + 1)', '(\\1 - 1)']),
    (r'\(s64\)', ['(u64)']),
    (r'\bNSEC_PER_MSEC\b', ['(2 * NSEC_PER_MSEC)', '(NSEC_PER_MSEC / 2)']),
    (r'\bBOUNDED_ITER_BATCH\b', ['(BOUNDED_ITER_BATCH + 1)', '(BOUNDED_ITER_BATCH - 1)']),
    (r'\bDEFINE_BOUNDED_ITER_RESCHED\b', ['DEFINE_BOUNDED_ITER']),
    (r'\bDEFINE_BOUNDED_ITER\b', ['DEFINE_BOUNDED_ITER_RESCHED']),
    (r'\?: 1\b', ['?: 2']),
    (r'\bbreak;', ['continue;']),
    (r'\bcontinue;', ['break;']),
]


def code_only(text):
    """The text with comments and strings blanked out, at the same positions."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"',
                  lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)


def conditions(code):
    """The conditions of if and while, as (start, end) of what is in the brackets."""
    for m in re.finditer(r'\b(?:if|while) \(', code):
        depth, i = 1, m.end()
        while depth:
            depth += {'(': 1, ')': -1}.get(code[i], 0)
            i += 1
        yield m.end(), i - 1


def statements(code):
    """Assignments, calls and jumps, each up to its semicolon."""
    pattern = r'(?<=[;{}:)\n])\n\t+((?:[a-z_][\w>.\[\]-]* [-+|&]?= |[*&(]?[a-z_]\w*\(|goto |(?:[\w>-]+)\+\+)[^;{}]*;)'
    for m in re.finditer(pattern, code):
        if not re.match(r'(if|while|for|switch|return|lockdep_assert_held)\b', m.group(1)):
            yield m.start(1), m.end(1)


def mutants(text, lines):
    """All (start, end, replacement) in the given lines of the text."""
    code = code_only(text)
    starts = [0] + [m.end() for m in re.finditer('\n', text)]
    number = lambda pos: sum(s <= pos for s in starts)
    found = []
    for pattern, replacements in RULES:
        for m in re.finditer(pattern, code):
            for new in replacements:
                found.append((m.start(), m.end(), m.expand(new)))
    for start, end in conditions(code):
        found.append((start, end, '!(' + text[start:end] + ')'))
    for start, end in statements(code):
        found.append((start, end, ';'))
    for start, end, new in sorted(set(found)):
        # Neither macros nor declarations: what these get wrong does not compile.
        line = text[text.rfind('\n', 0, start) + 1:text.find('\n', start)]
        if number(start) in lines and not line.startswith(('#', 'EXPORT')):
            yield start, end, new


def describe(text, start, end, new):
    """The changed line or lines, before and after, blanks squeezed."""
    first = text.rfind('\n', 0, start) + 1
    last = text.find('\n', end)
    squeeze = lambda s: ' '.join(s.split())
    return squeeze(text[first:last]) + ' => ' + squeeze(text[first:start] + new + text[end:last])


def equivalent():
    """What mutants.equivalent has: {(file, change): reason}."""
    reasons, key = {}, None
    with open(os.path.join(HERE, 'mutants.equivalent')) as file:
        for line in file:
            if line.startswith('#') or not line.strip():
                continue
            if line[0].isspace():
                reasons[key] = (reasons.get(key, '') + ' ' + line.strip()).strip()
            else:
                name, change = line.strip().split(': ', 1)
                key = (name, change)
    return reasons


def added_lines(name):
    """The lines of the patched file that the base does not have."""
    diff = subprocess.run(['diff', '-U0', os.path.join(os.environ['BASE'], name),
                           os.path.join(os.environ['TREE'], name)],
                          capture_output=True, text=True).stdout
    lines = set()
    for m in re.finditer(r'^@@ -\S+ \+(\d+)(?:,(\d+))? @@', diff, flags=re.M):
        lines |= set(range(int(m[1]), int(m[1]) + int(m[2] or 1)))
    return lines


def run(command, timeout):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, timeout=timeout).returncode
    except subprocess.TimeoutExpired:
        return 'timeout'


class Lib:
    """The helper, in user space, against the model."""
    files = ['include/linux/bounded_iter.h', 'lib/bounded_iter.c']

    def __init__(self, room):
        self.room = room
        for name in self.files:
            os.makedirs(os.path.join(room, os.path.dirname(name)), exist_ok=True)
            self.write(name, self.read(name))

    def read(self, name):
        with open(os.path.join(REPO, name)) as file:
            return file.read()

    def write(self, name, text):
        with open(os.path.join(self.room, name), 'w') as file:
            file.write(text)

    def lines(self, name):
        # The constant of the header is not the helper's, see the suites.
        return set(range(1, 10000))

    def test(self):
        model = os.path.join(self.room, 'model')
        for rt, bh, events in ((0, 0, '6'), (1, 0, '1'), (1, 1, '4')):
            if run(['gcc', '-O2', '-Wall', '-DPREEMPT_RT=%d' % rt, '-DBH=%d' % bh, '-I' + HERE + '/include',
                    '-I' + self.room + '/include', '-o', model, HERE + '/model.c',
                    self.room + '/lib/bounded_iter.c'], 60):
                return 'no code'
            status = run([model, events], 60)
            if status:
                return 'killed' if status != 'timeout' else 'killed (endless)'
        return 'survived'


class Suite:
    """A conversion, in the tree that the suites run in."""

    def __init__(self, name, command):
        self.files = [FILES[name]]
        self.command = command
        self.tree = os.environ['TREE']
        # The first time the whole kernel is compiled.
        self.timeout = 3600

    def read(self, name):
        with open(os.path.join(self.tree, name)) as file:
            return file.read()

    def write(self, name, text):
        with open(os.path.join(self.tree, name), 'w') as file:
            file.write(text)

    def lines(self, name):
        return added_lines(name)

    def test(self):
        status = run(self.command, self.timeout)
        self.timeout = 300
        if status == 2:
            return 'no code'
        return 'survived' if status == 0 else 'killed'


def main():
    target = Lib(sys.argv[2]) if sys.argv[1] == 'lib' else Suite(sys.argv[1], sys.argv[2:])
    reasons = equivalent()
    count = {'killed': 0, 'survived': 0, 'equivalent': 0, 'no code': 0}
    if target.test() != 'survived':
        sys.exit('error: the tests fail without any mutation')
    for name in target.files:
        text = target.read(name)
        try:
            for start, end, new in mutants(text, target.lines(name)):
                change = describe(text, start, end, new)
                if (name, change) in reasons:
                    result = 'equivalent'
                else:
                    target.write(name, text[:start] + new + text[end:])
                    result = target.test()
                count[result.split(' (')[0]] += 1
                print('%-10s %s:%d: %s' % (result, name, text.count('\n', 0, start) + 1, change), flush=True)
        finally:
            target.write(name, text)
    print('mutants %s: %d killed, %d survived, %d equivalent, %d do not compile'
          % (sys.argv[1], count['killed'], count['survived'], count['equivalent'], count['no code']))
    sys.exit(count['survived'] > 0)


main()
