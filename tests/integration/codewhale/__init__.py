# SPDX-License-Identifier: MIT
"""What the integration tests stand on: a private bus, the real service on it, bundles, callers, approvers, units."""

from codewhale.bundle import BLOCK_FOREVER, SAMPLES, SCHEMA, tool_source, write_bundle
from codewhale.bus import BusError, Client, PrivateBus, is_error, iterate_until, options
from codewhale.case import ServiceCase
from codewhale.core import ClientCore, CoreCase
from codewhale.daemon import Daemon, build_folder
from codewhale.people import Approver
from codewhale.rules import RulesCase, rule
from codewhale.units import Units

__all__ = ['Approver', 'BLOCK_FOREVER', 'BusError', 'Client', 'ClientCore', 'CoreCase', 'Daemon', 'PrivateBus', 'RulesCase', 'SAMPLES', 'SCHEMA', 'ServiceCase', 'Units', 'build_folder',
           'is_error', 'iterate_until', 'options', 'rule', 'tool_source', 'write_bundle']
