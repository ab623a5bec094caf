# SPDX-License-Identifier: MIT
"""Where AppArmor keeps user namespaces from whoever is not root (Ubuntu 24.04), the private system gets a profile of its own that allows
them and confines nothing. It is attached to no program: nothing else on the machine runs under it. It is unloaded at the end."""

import os
import shutil
import subprocess
from pathlib import Path

RESTRICTED = Path('/proc/sys/kernel/apparmor_restrict_unprivileged_userns')
PARSER = 'apparmor_parser'
TEXT = """\
abi <abi/4.0>,
profile {name} flags=(unconfined) {{
  userns,
}}
"""


def is_needed():
    """Whether users may make user namespaces only under a profile that says so."""
    try:
        return RESTRICTED.read_text().strip() not in ('', '0')
    except OSError:
        return False


def _parse(option, file):
    program = shutil.which(PARSER, path=f'{os.environ.get("PATH", "")}:/usr/sbin:/sbin')
    if not program:
        raise OSError(f'AppArmor forbids user namespaces here ({RESTRICTED} is 1) and {PARSER} is missing: '
                      'apt-get install apparmor, or sysctl kernel.apparmor_restrict_unprivileged_userns=0')
    ran = subprocess.run([program, '--skip-cache', option, str(file)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode != 0:
        raise OSError(f'AppArmor forbids user namespaces here and took no profile that allows them: {ran.stdout.strip()}; '
                      'with sysctl kernel.apparmor_restrict_unprivileged_userns=0 none is needed')


def load(name, folder):
    file = Path(folder, 'apparmor-profile')
    file.write_text(TEXT.format(name=name))
    _parse('--replace', file)


def unload(folder):
    """What load() did, if it did; never fails."""
    file = Path(folder, 'apparmor-profile')
    try:
        if file.exists():
            _parse('--remove', file)
    except OSError:
        pass


def enter_at_exec(name, attributes='/proc/self/attr'):
    """The next execve() of this process runs under the profile, and what that starts does."""
    own = Path(attributes, 'apparmor', 'exec')
    (own if own.exists() else Path(attributes, 'exec')).write_text(f'exec {name}')
