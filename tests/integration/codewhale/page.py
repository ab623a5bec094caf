# SPDX-License-Identifier: MIT
"""Pages whose indented blocks are commands with what they print."""

import re

# What differs from run to run: calls, the place of a home, times.
VARIES = re.compile(r'c-[0-9a-f]{32}|(?<=user/)[0-9a-f]{12}(?=/)|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d')


def blocks(text):
    """Each block of the page as its lines without the indent."""
    found, block = [], []
    for line in text.split('\n'):
        if line.startswith('    '):
            block.append(line[4:])
        elif not line.strip() and block:
            block.append('')
        elif block:
            found.append('\n'.join(block).rstrip())
            block = []
    return found


def commands(block):
    """The commands of a block, each with what follows it; a command goes on after a backslash."""
    for part in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]:
        lines = part.rstrip('\n').split('\n')
        end = next(i for i, line in enumerate(lines) if not line.endswith('\\')) + 1
        yield '\n'.join(lines[:end]), '\n'.join(lines[end:]).strip('\n')


def pattern(expected):
    """A line that is … alone stands for any lines, … in a line for any text in it."""
    lines = [r'(?:.*\n)*?' if line == '…' else '.*'.join(map(re.escape, line.split('…'))) + r'\n' for line in expected.split('\n')]
    return ''.join(lines)


def says(expected, printed):
    """Whether this was printed, but for what differs from run to run."""
    printed = printed if printed.endswith('\n') or not printed else printed + '\n'
    return re.fullmatch(pattern(VARIES.sub('…', expected)) if expected else '', printed) is not None
