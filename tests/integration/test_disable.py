# SPDX-License-Identifier: MIT
"""HK-10: a person can always switch an extension off, whatever it is doing. When the answer comes it is off."""

from codewhale import ServiceCase, iterate_until, tool_source
from codewhale.bus import BusError

OUTSIDE = "setImmediate(() => { throw new Error('outside of every call') }); await new Promise(() => {})"
SPINS = "ctx.logger.warn('spins now'); await new Promise((next) => setTimeout(next, 50)); for (;;);"
FORGES = "(await import('node:fs')).writeSync(1, 'this is no frame'); await new Promise(() => {})"
ENDS = "const fs = await import('node:fs'); fs.closeSync(0); fs.closeSync(1); await new Promise(() => {})"


class Disable(ServiceCase):
    def state(self):
        return self.client.property('Plugin', 'HostState', path=self.client.plugins()['probe'][1])

    def bring_up(self, body, apply=''):
        """Installed and trusted; an extension whose apply() does not end is not waited for."""
        plugin = self.client.install(self.bundle('probe', tool_source(body, more=apply).replace('export function', 'export async function')))['id']
        self.client.trust(plugin)
        return plugin, self.client.start('Plugins', 'Enable', '(sa{sv})', plugin, {}, seconds=60)

    def assertCanBeDisabled(self, verb='Disable'):
        self.client.plugin(verb, 'probe', seconds=60)
        self.assertEqual(self.state(), 'disabled')
        self.assertEqual(self.units.wait_until_gone(), [])
        self.assertNotIn('probe', self.client.tools())

    def check(self, body, wait_until=None):
        """In the middle of a call of it, and right after it failed; by both acts that take the right to run away."""
        self.approver(lambda card: 'allow')
        plugin, enabled = self.bring_up(body)
        enabled.result(60)
        for verb in ('Disable', 'Revoke'):
            with self.subTest(verb=verb):
                call = self.client.start_tool('probe', seconds=60)
                if wait_until:
                    iterate_until(wait_until, what='what it does')
                else:
                    with self.assertRaises(BusError):
                        call.result(60)
                self.assertCanBeDisabled(verb)
                with self.assertRaises(BusError):
                    call.result(60)
            if verb == 'Disable':
                self.client.plugin('Enable', plugin, seconds=60)

    def test_HK_10_while_it_fails(self):
        self.check(OUTSIDE)

    def test_HK_10_while_it_spins(self):
        self.check(SPINS, lambda: 'spins now' in self.daemon.log())

    def test_HK_10_while_it_breaks_its_channel(self):
        self.check(FORGES)

    def test_HK_10_while_its_host_ends(self):
        self.check(ENDS)

    def test_HK_10_while_it_starts(self):
        _, enabled = self.bring_up("return 'done'", "ctx.logger.warn('takes long'); await new Promise(() => {})")
        iterate_until(lambda: 'takes long' in self.daemon.log(), what='the start')
        self.assertCanBeDisabled()
        self.assertFails('Cancelled', enabled.result, 60)

    def test_HK_10_before_its_host_is_there(self):
        _, enabled = self.bring_up("return 'done'")
        iterate_until(lambda: self.client.plugins()['probe'][3] == 'active', what='what is wished for')
        self.assertCanBeDisabled()
        iterate_until(lambda: enabled.done, what='the end of what was overtaken')

    def test_HK_10_and_uninstalled_before_it_has_ended(self):
        """Both are answered: what was to end is not there any more."""
        _, enabled = self.bring_up("return 'done'", "await new Promise(() => {})")
        iterate_until(lambda: self.state() == 'starting', what='the start')
        disabled = self.client.start('Plugins', 'Disable', '(sa{sv})', 'probe', {}, seconds=60)
        self.client.plugin('Uninstall', 'probe', seconds=60)
        disabled.result(60)
        self.assertFails('Cancelled', enabled.result, 60)
        self.assertEqual(self.units.wait_until_gone(), [])

    def test_HK_10_after_it_could_not_start(self):
        _, enabled = self.bring_up("return 'done'", "throw new Error('never starts')")
        with self.assertRaises(BusError):
            enabled.result(60)
        self.assertCanBeDisabled()
