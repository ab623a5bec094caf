# SPDX-License-Identifier: MIT
"""A test case with the service running, and with the rule that a test leaves no unit and no process."""

import unittest

from codewhale.bus import BusError, Client, ERROR, PrivateBus
from codewhale.bundle import write_bundle
from codewhale.daemon import CONFIG, Daemon
from codewhale.people import Approver
from codewhale.units import Units


class ServiceCase(unittest.TestCase):
    """Each test gets a bus, a home and a service of its own."""
    maxDiff = None
    config = CONFIG

    def setUp(self):
        if not Daemon.program().exists():
            self.skipTest(f'{Daemon.program()} is not built')
        self.units = Units()
        self.bus = PrivateBus()
        self.addCleanup(self.bus.close)
        self.daemon = Daemon(self.bus.address, self.config)
        self.addCleanup(self.daemon.remove)
        self.prepare()
        self.daemon.start()
        self.addCleanup(self._check_nothing_is_left)
        self.client = self.connect()
        self.bundles = self.daemon.base / 'sources'

    def prepare(self):
        """What is to be there before the service starts."""

    def _check_nothing_is_left(self):
        status = self.daemon.stop()
        self.assertIn(status, (0, None), f'the service ended with {status}:\n{self.daemon.log()}')
        self.assertEqual(self.units.wait_until_all_gone(), [], 'a unit or process is left')

    def tearDown(self):
        failed = any(error for _, error in getattr(self._outcome, 'errors', ()) if error) or not self._outcome.success
        if failed:
            print('\n'.join('# service: ' + line for line in self.daemon.log().splitlines()[-40:]), flush=True)

    def connect(self):
        client = Client(self.bus.address)
        self.addCleanup(client.close)
        return client

    def approver(self, decide=None):
        approver = Approver(self.bus.address, decide)
        self.addCleanup(approver.close)
        return approver

    def bundle(self, name, source=None, **more):
        return write_bundle(self.bundles, name, source, **more)

    def assertFails(self, short, function, *arguments, **more):
        """The call fails with exactly this name of ours; returns the error."""
        with self.assertRaises(BusError) as caught:
            function(*arguments, **more)
        self.assertEqual(caught.exception.name, ERROR + short, caught.exception.message)
        self.assertTrue(caught.exception.message)
        return caught.exception
