# SPDX-License-Identifier: MIT
"""What the private system runs: the bus, logind, the journal and, when asked, a user manager and polkit. Nothing that
this machine has configured is started."""

import os
from pathlib import Path

TARGET = 'private-systemd.target'

# Of all that the vendor's targets pull in, these may start; the rest would touch the kernel that we share with the machine
# (sysctl, udev, modules, mounts) or takes time.
KEPT = {
    'dbus.service', 'dbus.socket', 'systemd-logind.service', 'systemd-journald.service', 'systemd-journald.socket',
    'systemd-journald-dev-log.socket', 'systemd-user-sessions.service',
}

JOURNALD = """\
[Journal]
Storage=persistent
Audit=no
ReadKMsg=no
ForwardToSyslog=no
ForwardToConsole=no
RateLimitIntervalSec=0
SyncIntervalSec=1s
"""

MANAGER = """\
[Manager]
DefaultTimeoutStartSec=30s
DefaultTimeoutStopSec=10s
LogLevel=info
"""

LOGIND = """\
[Login]
KillUserProcesses=no
RuntimeDirectorySize=50%
"""


def vendor_folder(scope):
    for folder in (f'/usr/lib/systemd/{scope}', f'/lib/systemd/{scope}'):
        if os.path.isdir(folder):
            return Path(folder)
    raise FileNotFoundError(f'no vendor units of systemd ({scope})')


def _mask_vendor_wants(folder, run):
    for wanted in folder.glob('*.wants/*'):
        name = wanted.name
        if name in KEPT or name.endswith('.target') or (run / name).is_symlink():
            continue
        (run / name).symlink_to('/dev/null')


def _use_broker(system, user):
    for folder, scope in ((system, 'system'), (user, 'user')):
        (folder / 'dbus.service').symlink_to(vendor_folder(scope) / 'dbus-broker.service')


def write(user_id=None, polkit=False, broker=False):
    """Write configuration and units into the private /etc and /run."""
    etc = Path('/etc/systemd')
    run = Path('/run/systemd/system')
    for folder in (etc / 'system', etc / 'user', run):
        folder.mkdir(parents=True, exist_ok=True)
    (etc / 'system.conf').write_text(MANAGER)
    (etc / 'user.conf').write_text(MANAGER)
    (etc / 'journald.conf').write_text(JOURNALD)
    (etc / 'logind.conf').write_text(LOGIND)

    # With this mark the journal writes to /var at once; per-user journals exist only there.
    Path('/run/systemd/journal').mkdir()
    Path('/run/systemd/journal/flushed').touch()
    Path('/var/log/journal').mkdir(parents=True, exist_ok=True)

    needed = ['basic.target', 'dbus.socket', 'systemd-logind.service', 'systemd-journald.service']
    if polkit:
        needed.append('polkit.service')
    if user_id is not None:
        needed.append(f'user@{user_id}.service')
    Path('/etc/hostname').write_text('private-systemd\n')
    (run / 'modprobe@.service').symlink_to('/dev/null')
    words = ' '.join(needed)
    (run / TARGET).write_text(
        f'[Unit]\nDescription=Private test system\nRequires={words}\nAfter={words}\nAllowIsolate=yes\n')
    _mask_vendor_wants(vendor_folder('system'), run)
    if broker:
        _use_broker(etc / 'system', etc / 'user')
