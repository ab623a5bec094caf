# SPDX-License-Identifier: MIT
"""Many hosts that are to start together: a few at a time, and those that somebody waits for first."""

from codewhale import ServiceCase, iterate_until, tool_source
from codewhale.daemon import CONFIG

N = 9
AT_ONCE = 4  # HOST_STARTS_MAX
PLUGIN = 'org.codewhale.Extensions.Plugin'
SLOW = 'export async function apply() { await new Promise(done => setTimeout(done, 1500)) }'


class StartLine(ServiceCase):
    config = CONFIG + ''.join(f'[plugins.slow{number}]\nactivation = "eager"\n' for number in range(N))

    def restart(self):
        self.daemon.stop()
        self.daemon.start()
        self.client = self.connect()

    def states(self):
        """All of one moment, so in one answer."""
        objects = self.client.call('org.freedesktop.DBus.ObjectManager', 'GetManagedObjects')
        plugins = [interfaces[PLUGIN] for interfaces in objects.values() if PLUGIN in interfaces]
        return [facts['HostState'] for facts in sorted(plugins, key=lambda facts: facts['Name']) if facts['Name'].startswith('slow')]

    def active(self):
        """Who became active since the last start of the service, in this order."""
        log = self.daemon.log()
        lines = log[log.rindex('serves org.codewhale.Extensions'):].splitlines()
        return [line.split(' is active')[0].split()[-1] for line in lines if ' is active' in line]

    def test_a_few_at_a_time_and_a_call_first(self):
        self.approver()
        for number in range(N):
            self.client.bring_up(self.bundle(f'slow{number}', SLOW))
        self.client.bring_up(self.bundle('probe', tool_source("return 'alive'")))
        self.restart()
        self.approver()
        self.assertLessEqual(self.states().count('starting'), AT_ONCE)
        self.assertEqual(self.client.tool('probe', seconds=60)['content'][0]['text'], 'alive')
        seen = []

        def all_ready():
            states = self.states()
            seen.append(states.count('starting'))
            return states == ['ready'] * N
        iterate_until(all_ready, 60, 'the start of all')
        self.assertLessEqual(max(seen), AT_ONCE)
        order = self.active()
        self.assertEqual(sorted(order), sorted(['probe', *(f'slow{number}' for number in range(N))]))
        # Somebody waited for it, so it did not stand behind all the others.
        self.assertLess(order.index('probe'), N)

    def test_one_that_waits_can_be_switched_off(self):
        plugins = [self.client.bring_up(self.bundle(f'slow{number}', SLOW)) for number in range(N)]
        self.restart()
        for plugin in plugins:
            self.client.plugin('Disable', plugin)
        iterate_until(lambda: self.states() == ['disabled'] * N, what='the end of all')
        self.assertEqual(self.units.wait_until_gone(), [])
        # Whoever enables one waits for that one only.
        self.client.plugin('Enable', plugins[-1])
        self.assertEqual(self.states()[-1], 'ready')


del ServiceCase
