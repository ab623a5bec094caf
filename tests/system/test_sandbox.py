# SPDX-License-Identifier: MIT
"""Sandboxed units beside the real system manager, which enforces limits: tests/sandbox/test-live-system.c."""

from harness.c_cases import cases_of

Sandbox = cases_of('test-sandbox-live-system', __name__)
