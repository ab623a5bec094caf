# SPDX-License-Identifier: MIT
"""The files of the project, and small readers of C that are good enough for checks of style."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ('common', 'schema', 'storage', 'prompt', 'policy', 'sandbox', 'service', 'dbus', 'cli')
DAEMON_ROOMS = ('common', 'schema', 'storage', 'prompt', 'policy', 'sandbox', 'service', 'dbus')


@cache
def all_files():
    """Every file that is, or is about to be, under version control."""
    listed = subprocess.run(['git', '-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listed.returncode == 0:
        names = [name for name in os.fsdecode(listed.stdout).split('\0') if name]
        return sorted(path for path in map(Path, names) if (ROOT / path).is_file() and not (ROOT / path).is_symlink())
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(('.git', 'build')) and name != 'node_modules']
        found += [Path(folder, name).relative_to(ROOT) for name in files]
    return sorted(path for path in found if not (ROOT / path).is_symlink())


def text_of(path):
    return (ROOT / path).read_text(errors='replace')


def sources(rooms=ROOMS, suffixes=('.c', '.h', '.cc', '.cpp')):
    return [path for path in all_files() if path.parts[0] in rooms and path.suffix in suffixes]


_NOT_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


@cache
def code_of(path):
    """The text of a C file with comments and literals blanked; lines keep their numbers."""
    def blank(found):
        keep = found[0][0] + found[0][-1] if found[0][0] in '"\'' else ''
        return keep[:1] + re.sub(r'[^\n]', ' ', found[0][len(keep):]) + keep[1:]
    return _NOT_CODE.sub(blank, text_of(path))


def lines_matching(pattern, paths, code=True):
    """file:line: text of each line that matches."""
    found = []
    for path in paths:
        lines = (code_of(path) if code else text_of(path)).split('\n')
        shown = text_of(path).split('\n')
        found += [f'{path}:{number}: {shown[number - 1].strip()}'
                  for number, line in enumerate(lines, 1) if re.search(pattern, line)]
    return found


_FUNCTION = re.compile(r'^(?!typedef|struct|union|enum|static const|extern)[A-Za-z_][^;={}#]*?\b(\w+)\([^;{}]*\)\s*\{$', re.MULTILINE)


def functions_of(path):
    """(name, first line, number of lines) of each function defined in a C file."""
    code = code_of(path)
    for found in _FUNCTION.finditer(code):
        end = code.find('\n}', found.end() - 1)
        first = code.count('\n', 0, found.start()) + 1
        last = code.count('\n', 0, end + 1) + 1
        yield found[1], first, last - first + 1
