# SPDX-License-Identifier: MIT
"""What one plugin does to the service: its memory stays as it was, the others are served, and the culprit is named with the cause.
How long calls of others take meanwhile is measured by bench/isolation."""

import json
import os
from pathlib import Path

from codewhale import ServiceCase, iterate_until, tool_source
from codewhale.daemon import CONFIG

NODE = os.environ.get('CODEWHALE_TEST_NODE')
HOST = '[extension_host]\nmemory_mib = 256\n' + (f'node = "{NODE}"\n' if NODE else '')
GROWTH_KIB_MAX = 4096
FLOODS = '''
    const turn = () => new Promise((done) => setImmediate(done))
    if (input.way === 'log') for (let i = 0; i < 3000; i++) console.error('x'.repeat(200))
    if (input.way === 'channel') for (let i = 0; i < 10000; i++) ctx.logger.info('x'.repeat(200))
    if (input.way === 'storage') for (let i = 0; i < 100; i++) await ctx.storage.set(`key${i % 4}`, 'x'.repeat(1000))
    if (input.way === 'spin') for (const end = Date.now() + 500; Date.now() < end;);
    if (input.way === 'buffers') { const kept = []; for (let i = 0; i < 4; i++) kept.push(Buffer.alloc(1 << 22, 1)) }
    if (input.way === 'answer') return 'x'.repeat(1 << 19)
    if (input.way === 'heap') for (const kept = []; ; await turn()) kept.push(new Array(1e5).fill(0).map(() => ({})))
    return 'alive\''''
WAYS = ('log', 'channel', 'storage', 'spin', 'buffers', 'answer')


class Isolation(ServiceCase):
    config = CONFIG + HOST

    def setUp(self):
        super().setUp()
        self.approver()
        self.client.bring_up(self.bundle('other', tool_source("return 'alive'", name='other')))
        self.client.bring_up(self.bundle('probe', tool_source(FLOODS, inject=('tools', 'storage'))))

    def path(self, name):
        return self.client.plugins()[name][1]

    def describe(self, name):
        return json.loads(self.client.call('Plugin', 'Describe', path=self.path(name)))['host']

    def said(self, name):
        return ' '.join(self.client.property('Plugin', 'Diagnostics', self.path(name)))

    def resident(self):
        lines = Path(f'/proc/{self.daemon.process.pid}/status').read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith('VmRSS:'))

    def misbehave(self):
        for way in WAYS:
            busy = self.client.start_tool('probe', {'way': way}, seconds=100)
            self.assertEqual(self.client.tool('other', seconds=60)['content'][0]['text'], 'alive', way)
            busy.result(100)

    def test_the_memory_of_the_service_stays_as_it_was(self):
        """A first round shows what it keeps for good: buffers, diagnostics, the decision log."""
        self.misbehave()
        before = self.resident()
        for _ in range(3):
            self.misbehave()
        self.assertLess(self.resident() - before, GROWTH_KIB_MAX)
        iterate_until(lambda: 'left out' in self.said('probe'), what='the flood to be named')
        self.assertEqual((self.said('other'), self.describe('other')['crashes'], self.describe('probe')['crashes']), ('', 0, 0))

    def test_L08_a_heap_that_is_used_up_is_named(self):
        with self.assertRaises(Exception) as caught:
            self.client.tool('probe', {'way': 'heap'}, seconds=100)
        self.assertEqual(caught.exception.name.rsplit('.', 1)[1], 'HostUnavailable')
        iterate_until(lambda: self.describe('probe')['crashes'] == 1, what='the crash')
        self.assertIn('memory', self.said('probe'))
        self.assertEqual((self.said('other'), self.describe('other')['crashes']), ('', 0))

    def test_SY_11_limits_are_told_alike_everywhere(self):
        """The property, what "codewhalectl show" prints, and doctor: what is configured, and what the control group says."""
        limits = json.loads(self.client.property('Plugin', 'Limits', self.path('other')))
        self.assertEqual(limits['memory']['configured'], 256 << 20)
        self.assertEqual(self.describe('other')['limits'], limits)
        checks = {check['name']: check for check in json.loads(self.client.call('', 'Doctor', seconds=60))['checks']}
        for name, words in (('memory', '256 MiB configured'), ('tasks', f'{limits["tasks"]["configured"]} tasks configured')):
            check, limit = checks[f'limit:{name}'], limits[name]
            self.assertIn(words, check['found'])
            if limit['enforced']:
                self.assertEqual((limit['effective'], check['verdict']), (limit['configured'], 'ok'))
                self.assertIn('in force', check['found'])
            else:
                self.assertIn(f'not enforced: {limit["reason"]}', check['found'])
                self.assertEqual(check['verdict'], 'warning')
