# SPDX-License-Identifier: MIT
"""Rules for the source that a compiler does not check."""

import re
import unittest

from source import DAEMON_ROOMS, ROOMS, ROOT, all_files, code_of, functions_of, lines_matching, sources, text_of

# What each room may include, besides itself. The arrows of docs/ARCHITECTURE.md.
MAY_INCLUDE = {
    'common': set(),
    'schema': {'common'},
    'storage': {'common'},
    'prompt': {'common'},
    'sandbox': {'common'},
    'policy': {'schema', 'common'},
    'service': {'policy', 'prompt', 'storage', 'sandbox', 'schema', 'common'},
    'dbus': {'service', 'policy', 'prompt', 'storage', 'sandbox', 'schema', 'common'},
    'cli': {'common'},
}
# Assembles everything, so that it alone sees the room above it.
ASSEMBLER = 'service/main.c'
# Made by the build.
MADE = ('host-bundle-digest.h',)
# Processes of their own that may wait.
LAUNCHER = ('sandbox/core-tool', 'sandbox/launcher')
NO_COMMENTS = {'.json', '.md', '.png', '.svg', '.txt', '.gitignore', '.lock', '.jsonl', '.sample'}
FILE_LINES, FILE_LINES_MAX, FUNCTION_LINES_MAX = 500, 800, 80


def is_test_data(path):
    return path.parts[0] == 'tests' and any(part in ('fuzz', 'data', 'corpus', 'corpora', 'fixtures') for part in path.parts[1:-1])


def without_nested(text):
    """The text without what stands in parentheses and braces."""
    while (shorter := re.sub(r'\([^(){}]*\)|\{[^(){}]*\}', '', text)) != text:
        text = shorter
    return text


def without_launcher(paths):
    return [path for path in paths if not str(path).startswith(LAUNCHER)]


def reasons():
    """name -> reason, from the list of files and functions that may be long."""
    rows = [line for line in text_of('tests/house/long.txt').splitlines() if line.strip() and not line.startswith('#')]
    return {name.strip(): reason.strip() for name, _, reason in (row.partition(':') for row in rows)}


class House(unittest.TestCase):
    maxDiff = None

    def assertNone(self, found, rule):
        if found:
            self.fail(f'{rule}:\n' + '\n'.join(map(str, found)))

    def test_every_file_names_its_licence(self):
        bare = [path for path in all_files()
                if path.suffix not in NO_COMMENTS and path.name not in ('LICENSE', 'package-lock.json') and not is_test_data(path)
                and 'SPDX-License-Identifier: MIT' not in '\n'.join(text_of(path).split('\n')[:4])]
        self.assertNone(bare, 'no SPDX line at the top')

    def test_rooms_include_only_what_stands_below(self):
        wrong = []
        for path in sources():
            room = path.parts[0]
            allowed = MAY_INCLUDE[room] | {room} | ({'dbus'} if str(path) == ASSEMBLER else set())
            for name in re.findall(r'^#include "([^"]+)"', text_of(path), re.MULTILINE):
                if name in MADE:
                    continue
                if '/' not in name:
                    wrong.append(f'{path}: "{name}" does not say its room')
                elif name.split('/')[0] not in allowed:
                    wrong.append(f'{path}: "{name}"')
        self.assertNone(wrong, 'a room includes what it may not see')

    def test_nothing_blocks_the_loop(self):
        blocking = (r'\b(sd_bus_call|sd_bus_call_method|sd_bus_get_property\w*|sd_bus_set_property|usleep|sleep|nanosleep'
                    r'|waitpid|wait4|system|popen|g_usleep|g_spawn_sync|g_spawn_command_line_sync)\s*\(')
        self.assertNone(lines_matching(blocking, without_launcher(sources(('service', 'dbus', 'sandbox', 'policy', 'prompt')))),
                        'a call that may wait')

    def test_no_main_context_and_no_threads_in_the_daemon(self):
        pattern = r'\b(g_main_\w+|g_timeout_add\w*|g_idle_add\w*|g_thread_\w+|pthread_create|thrd_create|g_bus_\w+|g_dbus_\w+)\s*\('
        self.assertNone(lines_matching(pattern, sources(DAEMON_ROOMS)), 'a loop or thread beside sd-event')

    def test_no_second_json_reader(self):
        self.assertNone(lines_matching(r'\bjson_(parser|reader|from_string)\w*', sources()), 'JSON is read with common/jdoc.h')

    def test_vtables_stand_in_dbus(self):
        self.assertNone(lines_matching(r'\b(sd_bus_vtable|SD_BUS_VTABLE_START)\b', sources([
            room for room in DAEMON_ROOMS if room != 'dbus'])), 'a vtable outside dbus/')

    def test_names_leave_those_of_the_libraries_alone(self):
        wrong = [f'{path}:{line}: {name}()' for path in sources() for name, line, _ in functions_of(path)
                 if re.match(r'(sd|g|json|cap)_', name)]
        self.assertNone(wrong, 'a name that begins as one of a library')

    def test_only_the_top_logs(self):
        # service/ may say what befell nobody's call; whatever has a caller returns its error.
        quiet = [path for path in sources(DAEMON_ROOMS) if path.parts[0] not in ('dbus', 'service')
                 and not str(path).startswith(('common/log.', *LAUNCHER))]
        self.assertNone(lines_matching(r'\blog_(info|notice|warning|error|write|plugin)\s*\(', quiet),
                        'only dbus/ and service/ log, what stands below returns its error')

    def test_what_is_cleaned_up_begins_with_a_value(self):
        """A return before the first assignment would free whatever the stack held."""
        wrong = []
        for path in sources():
            for number, line in enumerate(code_of(path).split('\n'), 1):
                found = re.match(r'\s+(?:g_auto(?:ptr)?\([\w ]+\)|g_autofree|_cleanup_\w+_)\s+(.*);$', line)
                if found and any('=' not in part for part in without_nested(found[1]).split(',')):
                    wrong.append(f'{path}:{number}: {line.strip()}')
        self.assertNone(wrong, 'a variable with a destructor and without a value')

    def test_comments_have_one_form(self):
        self.assertNone(lines_matching(r'//', sources(suffixes=('.c', '.h'))), 'a comment that is not /* */')

    def test_no_file_is_too_long(self):
        allowed, wrong = reasons(), []
        for path in sources() + [path for path in sources(('tests', 'bench')) if not is_test_data(path)]:
            count = text_of(path).count('\n')
            if count > FILE_LINES_MAX:
                wrong.append(f'{path}: {count} lines, at most {FILE_LINES_MAX}')
            elif count > FILE_LINES and path.parts[0] in ROOMS and not allowed.get(str(path)):
                wrong.append(f'{path}: {count} lines and no reason in tests/house/long.txt')
        self.assertNone(wrong, 'split it')

    def test_no_function_is_too_long(self):
        allowed = reasons()
        wrong = [f'{path}:{line}: {name}() has {count} lines' for path in sources() for name, line, count in functions_of(path)
                 if count > FUNCTION_LINES_MAX and not allowed.get(f'{path}:{name}'.replace(':', ' '))]
        self.assertNone(wrong, f'over {FUNCTION_LINES_MAX} lines and no reason in tests/house/long.txt ("file function: reason")')

    def test_nothing_names_a_machine(self):
        private = re.compile('/' + r'work/(h|shared|main)\b|\.\./' + 'shared/')
        wrong = [str(path) for path in all_files() if not is_test_data(path) and private.search(text_of(path))]
        self.assertNone(wrong, 'a path of somebody\'s machine')

    def test_executables_say_what_runs_them(self):
        wrong = [str(path) for path in all_files()
                 if (ROOT / path).stat().st_mode & 0o100 and not text_of(path).startswith('#!')]
        self.assertNone(wrong, 'executable without #!')


class Rows(unittest.TestCase):
    """tests/conformance-exceptions.md: rows of the contract that can't apply to this design."""

    def test_exceptions_have_reasons(self):
        path = ROOT / 'tests' / 'conformance-exceptions.md'
        if not path.exists():
            self.skipTest('there are none')
        rows = [line for line in path.read_text().splitlines() if line.startswith('|')][2:]
        wrong = [row for row in rows if not re.match(r'\| [A-Z]{1,2}-?\d{2} \| .{20,} \|$', row)]
        self.assertFalse(wrong, 'each row is "| id | reason |"')
