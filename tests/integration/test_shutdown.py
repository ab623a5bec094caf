# SPDX-License-Identifier: MIT
"""How the service ends, in whatever a host is doing then: nothing of it is left, and it says so by its status."""

import os
import time

from codewhale import BusError, ServiceCase, is_error, iterate_until, tool_source
from codewhale.units import systemctl

SPIN = "ctx.logger.warn('it spins'); while (true) {}"
SPIN_LATER = f'setTimeout(() => {{ {SPIN} }}, 500)'


class Shutdown(ServiceCase):
    def busy(self, name='probe'):
        """A host whose loop is blocked by a call."""
        self.approver()
        self.client.bring_up(self.bundle(name, tool_source(SPIN, name=name)))
        self.client.start_tool(name, seconds=60)
        self.wait_until_it_spins()

    def wait_until_it_spins(self):
        iterate_until(lambda: 'it spins' in self.daemon.log(), what='a loop that is blocked')

    def ends_clean(self):
        self.assertEqual((self.daemon.stop(), self.units.wait_until_all_gone()), (0, []))

    def test_H14_host_at_rest(self):
        self.client.bring_up(self.bundle('probe', tool_source("return 'alive'")))
        self.ends_clean()

    def test_H14_host_that_spins(self):
        self.busy()
        self.ends_clean()

    def test_H14_host_that_is_being_killed(self):
        self.busy()
        self.client.start('Plugins', 'Disable', '(sa{sv})', self.client.plugins()['probe'][0], {}, seconds=60)
        iterate_until(lambda: self.client.property('Plugin', 'HostState', self.client.plugins()['probe'][1]) == 'stopping', what='the kill')
        self.ends_clean()

    def test_H14_host_that_starts(self):
        plugin = self.client.install(self.bundle('probe', tool_source("return 'alive'")))['id']
        self.client.trust(plugin)
        self.client.start('Plugins', 'Enable', '(sa{sv})', plugin, {}, seconds=60)
        iterate_until(lambda: self.units.names(), what='the unit')
        self.ends_clean()

    def test_H14_host_that_spins_while_it_activates(self):
        plugin = self.client.install(self.bundle('probe', f'export function apply(ctx) {{ {SPIN} }}'))['id']
        self.client.trust(plugin)
        self.client.start('Plugins', 'Enable', '(sa{sv})', plugin, {}, seconds=60)
        self.wait_until_it_spins()
        self.ends_clean()

    def test_who_waits_is_told(self):
        self.client.bring_up(self.bundle('probe', tool_source("return 'alive'")))
        call = self.call_that_waits()
        self.ends_clean()
        with self.assertRaises(BusError) as caught:
            call.result(30)
        self.assertTrue(is_error(caught.exception, 'Cancelled'), caught.exception)
        self.assertIn('the service is stopping', str(caught.exception))

    def call_that_waits(self):
        """A call that waits for a person who does not answer."""
        self.approver(lambda card: None)
        call = self.client.start_tool('probe', seconds=60)
        iterate_until(lambda: self.client.call('Approvals', 'List'), what='the card')
        return call

    def test_H14_while_the_manager_reloads(self):
        self.busy()
        systemctl('daemon-reload')
        self.ends_clean()

    def killed(self):
        """SIGKILL to a service that is no unit: nobody stops its hosts but what they are bound to."""
        pids = self.units.all_processes()
        self.assertTrue(pids)
        self.daemon.kill()
        self.assertEqual(self.units.wait_until_all_gone(), [])
        iterate_until(lambda: not [pid for pid in pids if os.path.exists(f'/proc/{pid}')], what='the end of every process')

    def test_H14_SIGKILL_of_a_service_that_is_no_unit_ends_a_host_that_spins(self):
        self.busy()
        self.killed()
        self.daemon.start()
        self.assertEqual(self.units.all_names(), [], 'the next service finds an orphan')

    def test_H14_SIGKILL_ends_also_who_ignores_to_be_asked(self):
        self.client.bring_up(self.bundle('probe', tool_source("return 'alive'", more="process.on('SIGTERM', () => {})\n" + SPIN_LATER)))
        iterate_until(lambda: self.client.properties('Plugin', path=self.client.plugins()['probe'][1])['HostState'] == 'unresponsive',
                      what='a loop that is blocked')
        self.killed()

    def test_H14_a_lifeline_that_somebody_ended_is_made_anew(self):
        self.client.bring_up(self.bundle('probe', tool_source("return 'alive'")))
        before = self.units.lifelines()
        self.assertEqual(len(before), 1)
        systemctl('stop', *before)
        self.approver()
        iterate_until(lambda: self.units.lifelines() not in ([], before), what='another lifeline')
        self.assertEqual(self.client.tool('probe', seconds=60)['content'][0]['text'], 'alive')
        self.killed()


del ServiceCase
