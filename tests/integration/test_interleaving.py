# SPDX-License-Identifier: MIT
"""What people, agents and accidents do to three extensions at once, in an order that a seed decides: everything is answered, and in the
end everything is off and nothing is left. CODEWHALE_TEST_SEED and CODEWHALE_TEST_CALLS are for other and longer runs."""

import json
import os
import random
import signal

from codewhale import ServiceCase, iterate_until, options, tool_source
from codewhale.bus import BusError

SEED = int(os.environ.get('CODEWHALE_TEST_SEED', '1'))
ACTS = int(os.environ.get('CODEWHALE_TEST_CALLS', '150'))
NAMES = ('one', 'two', 'three')
BODY = '''
if (input.core && exec.core) { try { await exec.core.call('read_file', { path: 'a.txt' }) } catch (error) { return error.code } }
if (input.sleep) await new Promise((next) => setTimeout(next, input.sleep))
if (input.forge) (await import('node:fs')).writeSync(1, 'this is no frame')
if (input.outside) setImmediate(() => { throw new Error('outside of every call') })
if (input.store) await ctx.storage.set('key', input.store)
if (input.forge || input.outside) await new Promise(() => {})
return 'done'
'''
GUARD = "ctx.on('tools/pre-execute', (call, next) => call.input?.deny ? { kind: 'deny', reason: 'so it was asked for' } : next())"
INPUTS = ({}, {}, {'sleep': 300}, {'core': 1}, {'core': 1}, {'core': 1, 'sleep': 200}, {'store': 'x'}, {'deny': 1}, {'forge': 1}, {'outside': 1})
WAYS = ('call',) * 14 + ('heal',) * 5 + ('enable', 'disable', 'revoke', 'trust', 'reload', 'change', 'restore', 'restore', 'kill', 'reinstall',
                                           'vanish', 'vanish', 'leave', 'leave', 'take_back', 'take_back', 'empty_storage', 'capture')


class Interleaving(ServiceCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        workspace = self.daemon.base / 'work'
        workspace.mkdir()
        (workspace / 'a.txt').write_text('text')
        self.approver(lambda card: self.random.choice(('allow', 'allow', 'allow', 'deny', ('allow', 'tool'))))
        self.session = self.client.call('Sessions', 'Open', '(a{sv})', options(workspace=str(workspace)))
        self.sources, self.flight, self.ends = {}, [], {}
        for name in NAMES:
            self.client.bring_up(self.bundle(name, tool_source(BODY, name=f'tool_{name}', more=GUARD, inject=('tools', 'storage'))))
            self.sources[name] = self.daemon.home / 'plugins' / name / 'native' / 'main.mjs'
        self.good = {name: path.read_bytes() for name, path in self.sources.items()}

    def begin(self, what, interface, method, signature='()', *arguments):
        self.flight.append((what, self.client.start(interface, method, signature, *arguments, seconds=120)))

    def settle(self, most=0):
        """Wait until at most so many acts are under way."""
        def are_few():
            for what, pending in [row for row in self.flight if row[1].done]:
                self.flight.remove((what, pending))
                word = pending.error.name.rsplit('.', 1)[1] if pending.error else 'done'
                self.ends[word] = self.ends.get(word, 0) + 1
            return len(self.flight) <= most

        try:
            iterate_until(are_few, 60)
        except TimeoutError:
            self.fail(f'never answered: {[what for what, _ in self.flight]}\n{self.client.call("", "Describe")}')

    # ---- ways ----

    def call(self, name):
        self.begin(f'call of {name}', 'Tools', 'Call', '(ssa{sv})', f'tool_{name}', json.dumps(self.random.choice(INPUTS)), options(session=self.session))

    def verb(self, verb, name):
        self.begin(f'{verb} {name}', 'Plugins', verb, '(sa{sv})', name, {})

    def enable(self, name):
        self.verb('Enable', name)

    def disable(self, name):
        self.verb('Disable', name)

    def revoke(self, name):
        self.verb('Revoke', name)

    def trust(self, name):
        try:
            token = self.client.review(name)['token']
        except BusError:  # it changes just now, or is not there
            return
        self.begin(f'Trust {name}', 'Plugins', 'Trust', '(ssa{sv})', name, token, {})

    def heal(self, name):
        if self.random.random() < 0.7:
            self.restore(name)
        self.trust(name)
        if self.random.random() < 0.5:
            self.settle()
        self.enable(name)

    def reload(self, _name):
        self.begin('Reload', '', 'Reload')

    def put(self, name, data):
        if self.sources[name].exists():
            self.sources[name].write_bytes(data)

    def change(self, name):
        self.put(name, self.good[name] + b'// changed')

    def restore(self, name):
        self.put(name, self.good[name])

    def kill(self, _name):
        for pid in self.units.all_processes():
            if self.random.random() < 0.5:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def reinstall(self, name):
        """Uninstall comes while what was disabled still ends."""
        self.verb('Disable', name)
        self.verb('Uninstall', name)
        self.settle()
        try:
            self.client.install(self.bundles / name)
        except BusError as error:  # somebody enabled it in between
            self.assertTrue(error.name.endswith('AlreadyInstalled'), error)

    def vanish(self, name):
        """A program that is killed in the middle of its call"""
        other = self.connect()
        other.start_tool(f'tool_{name}', self.random.choice(INPUTS))
        other.property('', 'Version')  # what was sent before has come
        other.vanish()

    def leave(self, name):
        """A session that ends in the middle of its call"""
        session = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.begin(f'call of {name} in {session}', 'Tools', 'Call', '(ssa{sv})', f'tool_{name}', json.dumps(self.random.choice(INPUTS)),
                   options(session=session))
        self.flight.append((f'Close {session}', self.client.start('Session', 'Close', path=session, seconds=120)))

    def take_back(self, name):
        try:
            path = self.client.call('Tools', 'Start', '(ssa{sv})', f'tool_{name}', json.dumps(self.random.choice(INPUTS)), options(session=self.session))
        except BusError:  # there is no such tool now
            return
        try:
            self.client.call('Request', 'Close', path=path)
        except BusError as error:  # it was faster
            self.assertTrue(error.name.endswith(('UnknownObject', 'NoSuchRequest', 'UnknownMethod')), error)

    def empty_storage(self, name):
        self.begin(f'Delete of {name}', 'Storage', 'Delete', '(ss)', name, 'key')

    def capture(self, _name):
        self.begin('Snapshot', 'Prompt', 'Snapshot', '(a{sv})', options(session=self.session))

    # ---- the test ----

    def test_everything_is_answered(self):
        for _ in range(ACTS):
            getattr(self, self.random.choice(WAYS))(self.random.choice(NAMES))
            self.settle(self.random.choice((0, 3, 8, 8)))
            self.assertIsNone(self.daemon.process.poll(), self.daemon.log()[-5000:])
        self.settle()
        self.assertGreater(self.ends['done'], ACTS // 5, self.ends)
        for name in NAMES:
            self.client.plugin('Disable', name, seconds=60)
        for _, path, _, state in self.client.plugins().values():
            self.assertEqual((state, self.client.property('Plugin', 'HostState', path=path)), ('disabled', 'disabled'))
        self.assertEqual(self.units.wait_until_gone(), [])
        left = json.loads(self.client.call('', 'Describe'))
        self.assertEqual([left[name] for name in ('hosts', 'approvals', 'calls', 'tickets', 'tools', 'hooks')], [0] * 6)
