# SPDX-License-Identifier: MIT
"""Twenty seconds of scripts/soak; the long run is for a machine with nothing else to do."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from soak import BAD, SPINNING, Soak  # noqa: E402


class Short(unittest.TestCase):
    def test_twenty_seconds(self):
        # Without a unit of its own a service can't bind its hosts to it, and one that spins may outlive it (H14). The long run
        # counts those; this one is about everything else.
        for kind in SPINNING:
            BAD.pop(kind, None)
        soak = Soak(20, int(os.environ.get('CODEWHALE_SOAK_SEED', '7')))
        held = soak.run()
        self.assertTrue(held, '\n'.join(soak.wrong))
        self.assertGreater(soak.counts['answers'], 0)
        self.assertGreater(soak.counts['actions'], 5)
