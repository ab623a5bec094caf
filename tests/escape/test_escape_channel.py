# SPDX-License-Identifier: MIT
"""Forged frames: whatever a plugin writes on its channel, no other plugin, record, call or card notices, and the service lives. The
control of each is the genuine frame: the same methods work for the plugin itself (test_genuine_frames_work)."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'integration'))

from codewhale import ServiceCase, iterate_until  # noqa: E402
from codewhale.bus import BusError, is_error  # noqa: E402

HERE = Path(__file__).resolve().parent
SOURCE = (HERE / 'channel.mjs').read_text()
NAMES = re.findall(r"^    '([a-z0-9-]+)': ", SOURCE, re.MULTILINE)
# What is a frame of the protocol, though a lie: it may be refused without ending the host.
WELL_FORMED = {'register-for-another', 'unregister-of-another', 'read-records-of-another', 'write-records-of-another',
               'delete-records-of-another', 'core-call-with-a-guessed-ticket', 'fault-of-another', 'log-of-another'}

OTHER = '''
export const inject = ['tools', 'storage']
export function apply(ctx) {
  ctx.tools.register({ name: 'other_keep', description: 'Keeps.', parameters: { type: 'object' }, async execute({ value }) {
    if (value !== undefined) await ctx.storage.set('secret', value)
    return { value: await ctx.storage.get('secret') }
  } })
}
'''


class Forged(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.other = self.client.bring_up(self.bundle('other', OTHER))
        self.client.bring_up(self.bundle('forger', SOURCE))
        self.client.tool('other_keep', {'value': 'kept'})

    def facts(self, name):
        return self.client.properties('Plugin', path=self.client.plugins()[name][1])

    def forge(self, name):
        """The error that the call ended with, or None."""
        try:
            self.result = self.client.tool('forge_try', {'name': name, 'other': self.other}, seconds=60)
        except BusError as error:
            return error
        return None

    def check(self, name):
        process, unit = self.daemon.process.pid, self.facts('forger')['Unit']
        error = self.forge(name)
        if error is not None:
            self.assertTrue(is_error(error, 'HostUnavailable') or is_error(error, 'ExecutionFailed'), error)
        if name not in WELL_FORMED:
            self.assertIsNotNone(error, 'nobody noticed')
            iterate_until(lambda: self.facts('forger')['Unit'] != unit, what='the end of the host that broke the protocol')
        else:
            self.assertNotIn('forged', str(self.client.tools()))
        # The answer of a call is its own, or an error; never a forged one.
        self.assertNotIn('forged', str(getattr(self, 'result', {}).get('content')))
        self.assertEqual(self.daemon.process.poll(), None)
        self.assertEqual(self.daemon.process.pid, process)
        self.assertEqual(self.client.tool('other_keep')['structured'], {'value': 'kept'})
        other = self.facts('other')
        self.assertEqual((other['Failure'], other['HostState'] in ('idle', 'ready')), ('', True), other['Failure'])
        self.assertNotIn('forged', ' '.join(other['Diagnostics']))

    def test_channel_genuine_frames_work(self):
        names = self.client.tool('forge_try', {'list': True})['structured']
        self.assertEqual(names, NAMES)
        self.assertEqual(self.client.tool('other_keep', {'value': 'kept'})['structured'], {'value': 'kept'})

    def test_channel_read_of_the_frames_of_the_service(self):
        """What it reads are its own frames: no other plugin's pass here. Stealing them breaks its own protocol at worst."""
        self.client.tool('other_keep', {'value': 'kept'})
        error = self.forge('read-the-channel')
        if error is None:
            self.assertIn('refused', self.result['structured'])
        self.assertEqual(self.client.tool('other_keep')['structured'], {'value': 'kept'})


def make_test(name):
    def test(self):
        self.check(name)
    return test


for found in NAMES:
    # There is one tier, so the border of owners, authorities, registrations and logs is that of the plugin.
    row = 'A22_' if found in WELL_FORMED else ''
    setattr(Forged, f'test_channel_{row}{found.replace("-", "_")}', make_test(found))
