# SPDX-License-Identifier: MIT
"""A disk that is full: a typed error each, and what was there before is there still."""

from codewhale import ServiceCase
from codewhale import case
from codewhale.small_disk import SmallDisk, is_possible

SKILL = '---\nname: s\ndescription: Something.\n---\nText.\n'


class FullDisk(ServiceCase):
    def setUp(self):
        if not is_possible():
            self.skipTest('no mounts can be made here without privileges')
        kept, case.Daemon = case.Daemon, SmallDisk
        try:
            super().setUp()
        finally:
            case.Daemon = kept
        # Outside of the disk, which holds the home alone.
        self.source = self.bundle('words', files={'skills/s/SKILL.md': SKILL, 'skills/s/more.txt': 'x' * 100000})

    def names(self):
        return sorted(self.client.plugins())

    def refused(self, function, *arguments, **more):
        """It fails for want of room, changes no file, and works when there is some."""
        before = self.daemon.listing()
        self.daemon.fill()
        error = self.assertFails('IO', function, *arguments, **more)
        self.assertIn('No space left', error.message)
        self.daemon.empty()
        self.assertEqual(self.daemon.listing(), before)
        return function(*arguments, **more)

    def test_install(self):
        self.refused(self.client.install, self.source)
        self.assertEqual(self.names(), ['words'])

    def test_trust(self):
        plugin = self.client.install(self.source)['id']
        self.refused(self.client.trust, plugin)
        self.assertEqual(self.client.properties('Plugin', path=self.client.plugins()['words'][1])['Trust'], 'trusted')

    def test_the_state_outlives_it(self):
        plugin = self.client.install(self.source)['id']
        self.client.trust(plugin)
        self.daemon.fill()
        self.assertFails('IO', self.client.plugin, 'Revoke', plugin)
        self.assertEqual(self.client.properties('Plugin', path=self.client.plugins()['words'][1])['Trust'], 'trusted')
        self.daemon.empty()
        self.client.plugin('Revoke', plugin)


del ServiceCase
