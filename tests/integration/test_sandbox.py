# SPDX-License-Identifier: MIT
"""Sandboxed units beside a real user manager: tests/sandbox/test-live-user.c and test-live-walls.c."""

from harness.c_cases import cases_of

Sandbox = cases_of('test-sandbox-live-user', __name__)
Walls = cases_of('test-sandbox-live-walls', __name__)
