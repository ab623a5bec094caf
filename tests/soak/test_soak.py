# SPDX-License-Identifier: MIT
"""Twenty seconds of scripts/soak; the long run is for a machine with nothing else to do."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from soak import Soak  # noqa: E402


class Short(unittest.TestCase):
    def test_twenty_seconds(self):
        soak = Soak(20, int(os.environ.get('CODEWHALE_SOAK_SEED', '7')))
        held = soak.run()
        self.assertTrue(held, '\n'.join(soak.wrong))
        self.assertGreater(soak.counts['answers'], 0)
        self.assertGreater(soak.counts['actions'], 5)
