# SPDX-License-Identifier: MIT
"""A guard that is off is off with words: told in the record of each call, and where the configuration counts on it, calls fail."""

import json

from codewhale import ServiceCase, tool_source
from codewhale.daemon import CONFIG

LISTENER = "export function apply(ctx) { ctx.on('tools/pre-execute', async function guard(call, next) { return next() }) }"


class Marked(ServiceCase):
    config = CONFIG + '[plugins."warden"]\nguard = true\n'

    def setUp(self):
        super().setUp()
        self.approver()
        self.client.bring_up(self.bundle('worker', tool_source("return 'ran'", name='work')))

    def refused(self, words):
        error = self.assertFails('HookFailed', self.client.tool, 'work')
        self.assertIn('warden', error.message)
        self.assertIn(words, error.message)

    def change(self, name):
        entry = self.daemon.home / 'plugins' / name / 'native' / 'main.mjs'
        entry.write_text(entry.read_text() + '\n')

    def test_B8_a_guard_that_is_not_there_makes_calls_fail(self):
        self.refused('not installed')
        plugin = self.client.install(self.bundle('warden', LISTENER))['id']
        self.refused('reviewed')
        self.client.trust(plugin)
        self.assertFails('HookFailed', self.client.tool, 'work')
        self.client.plugin('Enable', plugin)
        self.assertEqual(self.client.tool('work')['content'][0]['text'], 'ran')
        # Its trust went stale: nobody asks it any more, and nothing passes.
        self.change('warden')
        self.client.call('', 'Reload')
        self.refused('content')
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin)
        self.assertEqual(self.client.tool('work')['content'][0]['text'], 'ran')
        # A person takes it out; that is no way around it either, but the configuration is the person's.
        self.client.plugin('Disable', plugin)
        self.assertFails('HookFailed', self.client.tool, 'work')
        self.daemon.write_config(CONFIG)
        self.client.call('', 'Reload')
        self.assertEqual(self.client.tool('work')['content'][0]['text'], 'ran')

    def test_B8_a_guard_without_listeners_is_none(self):
        self.client.bring_up(self.bundle('warden', tool_source("return 'x'", name='other')))
        self.refused('listens to nothing')


class Unmarked(ServiceCase):
    def test_B8_a_listener_that_is_not_trusted_any_more_is_told(self):
        self.approver()
        self.client.bring_up(self.bundle('worker', tool_source("return 'ran'", name='work')))
        self.client.bring_up(self.bundle('warden', LISTENER))
        entry = self.daemon.home / 'plugins' / 'warden' / 'native' / 'main.mjs'
        entry.write_text(LISTENER + '\n')
        self.client.call('', 'Reload')
        self.assertEqual(self.client.tool('work')['content'][0]['text'], 'ran')
        last = max((record for record in self.records() if record['kind'] == 'call'), key=lambda record: record['time'])
        self.assertIn('warden: content-changed', last['hooks'])

    def records(self):
        return json.loads(self.client.call('Decisions', 'Query', '(a{sv})', {}))
