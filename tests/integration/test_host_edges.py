# SPDX-License-Identifier: MIT
"""What a person or the system does to a host at a bad moment: nothing of it stays, and nobody waits for ever."""

import json
import time

from codewhale import BusError, ServiceCase, iterate_until, tool_source
from codewhale.units import systemctl

ECHO = "return 'alive'"


class Edges(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()

    def facts(self, name='probe'):
        return self.client.properties('Plugin', path=self.client.plugins()[name][1])

    def test_disabled_while_it_starts_and_somebody_waits_for_it(self):
        plugin = self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.client.plugin('Disable', plugin)
        self.client.start('Plugins', 'Enable', '(sa{sv})', plugin, {}, seconds=60)
        call = self.client.start_tool('probe', seconds=60)
        iterate_until(lambda: self.units.names(), what='the unit')
        self.client.plugin('Disable', plugin)
        with self.assertRaises(BusError):
            call.result(30)
        self.assertEqual((self.units.wait_until_gone(), self.facts()['HostState'], self.facts()['Unit']), ([], 'disabled', ''))
        self.client.plugin('Enable', plugin)
        self.assertEqual(self.client.tool('probe', seconds=60)['content'][0]['text'], 'alive')

    def test_SY_03_manager_that_is_executed_anew_while_hosts_start(self):
        """What was under way is asked for again: a host that fails for that would wait for a person."""
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        plugin = self.client.plugins()['probe'][0]
        for pause in (0, 0.01, 0.03):
            self.client.plugin('Disable', plugin)
            enable = self.client.start('Plugins', 'Enable', '(sa{sv})', plugin, {}, seconds=60)
            for _ in range(2):
                time.sleep(pause)
                systemctl('daemon-reexec')
            enable.result(60)
            self.assertEqual(self.client.tool('probe', seconds=60)['content'][0]['text'], 'alive')
        self.assertEqual(json.loads(self.client.call('Plugin', 'Describe', path=self.client.plugins()['probe'][1]))['host']['crashes'], 0)
        iterate_until(lambda: self.units.names() == [self.facts()['Unit']], what='one unit')


del ServiceCase
