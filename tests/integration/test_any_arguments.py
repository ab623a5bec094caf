# SPDX-License-Identifier: MIT
"""Every method of every object, found by introspection, with arguments that a stranger may think of: each call is answered, each
refusal has a name of ours and one line that is fit for a terminal, and the service goes on.

The calls depend on a seed alone; CODEWHALE_TEST_SEED and CODEWHALE_TEST_CALLS are for longer runs."""

import json
import os
import random
import tempfile
import unicodedata
import xml.etree.ElementTree as ElementTree

from codewhale import SAMPLES, Client, ServiceCase, iterate_until, options, tool_source
from codewhale.bus import ERROR, NAME, ROOT, BusError, Gio, GLib, variant
from codewhale.daemon import CONFIG

SEED = int(os.environ.get('CODEWHALE_TEST_SEED', '1'))
CALLS = int(os.environ.get('CODEWHALE_TEST_CALLS', '600'))
IN_FLIGHT = 24

TEXTS = (
    '', ' ', 'x', '.', '..', '-', '--help', 'null', 'true', '0', '-1', '%s%n', 'probe', 'many-calls', 'counter', 'mod_counter', 'mod-count',
    'read', 'shell', 'ask', 'never', 'full-access', 'auto-review', 'plan', 'agent', 'allow', 'deny', 'once', 'tool', 'session', 'user', 's1',
    'a', 'a' * 64, 'a' * 65, 'a' * 300, 'a' * 70_000, '\u00e9' * 33_000, 'a\nb', 'a\x1b[2Jb', 'a\x07', 'a\x9b31m', 'a\u202egnp', '\u2028',
    '\ufeffprobe', 'PROBE', 'pro\u0301be', '\U0010ffff', '/', '/etc/passwd', '/dev/zero', '/dev/tty', '/proc/self/mem',
    '/proc/self/fd/0', '/nonexistent', '../../../etc/shadow', 'file:///etc/passwd', 'path:/etc', 'github:a/b', 'github:../..', 'https://',
    'https://127.0.0.1:1/x.tar.gz', 'http://[::1]:1/', 'user/1/../../x', 'user/305396373535/counter', '{}', '[]', '""', '{"text":"x"}', '{"a":1,"a":2}',
    '{"a":', '{"a":1e999}', '{"a":123456789012345678901234567890}', '"\\ud800"', '[' * 3000, '{"a":' * 100 + '1' + '}' * 100,
    '[' + '1,' * 20_000 + '1]', '{"type":"object"}', '{"$ref":"#"}', '{"pattern":"(a+)+$"}', '{"allOf":[{"$ref":"#"}]}',
    '[{"name":"read","requirement":"auto"}]', '[{"name":"read"},{"name":"READ"}]', '[[rule]]\nid="x"', 'allow = [', '*', '**', '?', 'a*' * 500,
    'c-00000000000000000000000000000000', 'x-' + 'f' * 32, '0' * 64 + '.' + '0' * 64,
)
NUMBERS = (0, 1, 2, 3, 7, 255, 2**31, 2**32 - 1, 2**53, 2**63, 2**64 - 1)
OPTION_NAMES = (
    'session', 'scope', 'seconds', 'label', 'deadline-ms', 'agent-id', 'origin-turn-id', 'provenance', 'origin', 'handle-token', 'since-usec',
    'until-usec', 'plugin', 'tool', 'outcome', 'kind', 'limit', 'workspace', 'from', 'mode', 'posture', 'model', 'cwd', 'result-fd', 'plugins',
    'native-tools', 'script-tools', 'builtin-commands', 'markdown-commands', 'receipt', 'chosen-by', 'name', 'parent', 'allow-network',
    'expected', 'diff', 'data', 'force', 'enabled', 'x', '', 'SESSION', 'a' * 300,
)
STANDARD_ERRORS = {'org.freedesktop.DBus.Error.' + name for name in (
    'InvalidArgs', 'UnknownMethod', 'UnknownObject', 'UnknownInterface', 'UnknownProperty', 'PropertyReadOnly', 'InvalidSignature')}
# What would only slow the others down: whole scans and sandboxes, a thousand times
RARE = {'Doctor': 2, 'Reload': 6, 'OpenChannel': 6}


class Descriptors:
    """One of each kind that can be passed on"""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        fifo = os.path.join(self.folder.name, 'fifo')
        os.mkfifo(fifo)
        huge, text = os.memfd_create('huge'), os.memfd_create('text')
        os.ftruncate(huge, 1 << 40)
        os.write(text, b'{"text":"x"}')
        self.found = [os.open('/dev/null', os.O_RDWR), os.open('/dev/zero', os.O_RDONLY), os.open('/', os.O_PATH), os.open('/', os.O_RDONLY),
                      os.open(fifo, os.O_RDWR), *os.pipe(), huge, text, os.eventfd(0)]

    def close(self):
        for fd in self.found:
            os.close(fd)
        self.folder.cleanup()


class AnyArguments(ServiceCase):
    config = CONFIG + '[install]\nnetwork = "deny"\n'

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.counter = self.client.bring_up(SAMPLES / 'counter')
        self.client.bring_up(self.bundle('probe', tool_source("return input.text ?? 'done'")))
        self.answering = self.approver(lambda card: self.random.choice(('allow', 'deny', None, None, ('allow', 'tool'))))
        self.session = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.other = self.connect()
        self.foreign = self.other.call('Sessions', 'Open', '(a{sv})', {})
        self.descriptors = Descriptors()
        self.addCleanup(self.descriptors.close)
        self.token = self.client.review('probe')['token']
        self.answered = {}

    # ---- what is there ----

    def objects(self):
        """All paths below ours, as the service tells them"""
        found, left = [], [ROOT]
        while left:
            path = left.pop()
            try:
                text = self.client.call('org.freedesktop.DBus.Introspectable', 'Introspect', path=path)
            except BusError:  # it went meanwhile
                self.assertNotEqual(path, ROOT)
                continue
            node = ElementTree.fromstring(text)
            found.append((path, node))
            left += [f'{path}/{child.get("name")}' for child in node.findall('node')]
        return found

    def methods(self):
        return [(path, interface.get('name'), method.get('name'), [arg.get('type') for arg in method.findall('arg') if arg.get('direction') != 'out'])
                for path, node in self.objects() for interface in node.findall('interface') for method in interface.findall('method')
                if interface.get('name').startswith(NAME)]

    # ---- arguments ----

    def text(self):
        more = (self.token, self.counter, str(SAMPLES / 'counter'), str(self.daemon.home), str(self.bundles / 'probe'), self.session)
        return self.random.choice(TEXTS + more)

    def path(self):
        return self.random.choice(('/', ROOT, self.session, self.foreign, f'{ROOT}/session/s999', f'{ROOT}/approval/1', f'{ROOT}/request/x'))

    def basic(self):
        return GLib.Variant(*self.random.choice((
            ('s', self.text()), ('o', self.path()), ('b', True), ('u', self.random.choice(NUMBERS) & 0xffffffff), ('t', self.random.choice(NUMBERS)),
            ('i', -1), ('d', 0.5), ('as', [self.text() for _ in range(self.random.choice((0, 1, 3, 200)))]), ('h', self.random.randrange(3)),
            ('ay', b'\x00\xff'), ('v', GLib.Variant('s', 'x')), ('a{ss}', {'a': 'b'}))))

    def fitting(self, name):
        """A value of the right type, so that more than the type is looked at"""
        if name == 'session':
            return variant(self.random.choice((self.session, self.session, self.foreign, f'{ROOT}/session/s999')))
        if name in ('seconds', 'deadline-ms', 'limit'):
            return GLib.Variant('u', self.random.choice(NUMBERS) & 0xffffffff)
        if name in ('since-usec', 'until-usec'):
            return GLib.Variant('t', self.random.choice(NUMBERS))
        if name in ('plugins', 'native-tools', 'script-tools', 'builtin-commands', 'markdown-commands'):
            return GLib.Variant('as', [self.text() for _ in range(self.random.choice((0, 1, 3, 200)))])
        return GLib.Variant('s', self.text())

    def choices(self):
        names = self.random.sample(OPTION_NAMES, self.random.choice((0, 0, 0, 0, 1, 1, 2, 4)))
        return {name: self.fitting(name) if self.random.random() < 0.8 else self.basic() for name in names}

    def argument(self, kind):
        if kind == 's':
            return self.text()
        if kind in ('t', 'u'):
            return self.random.choice(NUMBERS) & (0xffffffff if kind == 'u' else 2**64 - 1)
        if kind == 'o':
            return self.path()
        if kind == 'h':
            return self.random.randrange(3)
        if kind == 'ay':
            return self.text().encode('utf-8', 'surrogatepass') if self.random.random() < 0.8 else b'\xff\xfe{'
        self.assertEqual(kind, 'a{sv}', 'a type that this test can make nothing of')
        return self.choices()

    # ---- calls ----

    def send(self, client, path, interface, method, kinds):
        fds = Gio.UnixFDList()
        for _ in range(self.random.choice((0, 1, 3))):
            fds.append(self.random.choice(self.descriptors.found))
        values = GLib.Variant(f'({"".join(kinds)})', tuple(self.argument(kind) for kind in kinds))
        call = {'what': f'{interface}.{method}{values.print_(False)[:600]} at {path}', 'error': None, 'done': False}

        def on_reply(connection, result):
            call['done'] = True
            try:
                connection.call_with_unix_fd_list_finish(result)
            except GLib.Error as error:
                call['error'] = BusError.of(error)

        client.connection.call_with_unix_fd_list(NAME, path, interface, method, values, None, Gio.DBusCallFlags.NO_AUTO_START, 90_000, fds,
                                                 None, on_reply)
        return call

    def check(self, call, method):
        error = call['error']
        self.answered.setdefault(method, [0, 0])[error is not None] += 1
        if error is None:
            return
        self.assertTrue(error.name.startswith(ERROR) or error.name in STANDARD_ERRORS, f'{call["what"]}: {error}')
        self.assertTrue(error.message, call['what'])
        self.assertLess(len(error.message), 5000, call['what'])
        odd = {character for character in error.message if unicodedata.category(character) in ('Cc', 'Cf', 'Zl', 'Zp', 'Co', 'Cn')}
        self.assertEqual(odd, set(), f'{call["what"]}: {error.message!r}')

    def settle(self, flight, most):
        """Wait until at most so many calls are out; a card that nobody answers is closed by the time that cards have."""
        def are_few():
            for call, method in [row for row in flight if row[0]['done']]:
                flight.remove((call, method))
                self.check(call, method)
            return len(flight) <= most or self.daemon.process.poll() is not None

        iterate_until(are_few, 120, f'the answers to {[call["what"] for call, _ in flight][:5]}')
        self.assertIsNone(self.daemon.process.poll(), self.daemon.log()[-8000:])

    def test_every_method_with_any_arguments(self):
        rare = dict(RARE)
        methods, flight, clients = self.methods(), [], [self.client, self.other]
        names = sorted({row[2] for row in methods})
        self.assertGreater(len(names), 40)
        for number in range(CALLS):
            if number % 100 == 99:  # cards, requests and sessions came and went
                methods = self.methods()
            path, interface, method, kinds = self.random.choice(methods)
            if rare.get(method, 1) <= 0:
                continue
            rare[method] = rare.get(method, CALLS) - 1
            flight.append((self.send(self.random.choice(clients), path, interface, method, kinds), method))
            self.settle(flight, IN_FLIGHT)
        for client in (*clients, self.answering):
            client.close()
        flight.clear()

        fresh = Client(self.bus.address)
        self.addCleanup(fresh.close)
        described = json.loads(fresh.call('', 'Describe'))
        self.assertEqual(described['version'], fresh.property('', 'Version'))
        fresh.bring_up(self.bundle('after', tool_source("return 'well'", name='after_all')))
        self.approver(lambda card: 'allow')
        self.assertEqual(fresh.tool('after_all', **options())['content'][0]['text'], 'well')
        missing = [name for name in names if name not in self.answered]
        print(f'# seed {SEED}: {sum(map(sum, self.answered.values()))} calls, {sum(bad for _, bad in self.answered.values())} refused, '
              f'never asked: {missing}')
