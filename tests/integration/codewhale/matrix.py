# SPDX-License-Identifier: MIT
"""The two matrices of contract 5.6 as data, for every test that walks them on the live service.

A cell says what becomes of a call:
  run      it runs and nobody is asked
  card     a card opens, and it runs when a person allows it; the card offers grants
  forced   a card opens every time, and it offers no grant
  held     refused by posture or mode, nobody is asked
  nobody   a person would have to be asked and none is there
  denied   a person said no for this session, and that stays"""

POSTURES = ('ask', 'auto-review', 'full-access', 'never')
COLUMNS = ('no-grant', 'grant', 'denial')

# 5.6.1: posture, headless -> no grant, exact-build grant, session denial
OUTER = {
    ('ask', False): ('card', 'run', 'denied'),
    ('auto-review', False): ('held', 'held', 'denied'),
    ('full-access', False): ('run', 'run', 'denied'),
    ('never', False): ('held', 'held', 'denied'),
    ('ask', True): ('nobody', 'run', 'denied'),
    ('full-access', True): ('run', 'run', 'denied'),
}
# Plan mode blocks before anything else is looked at.
OUTER_PLAN = ('held', 'held', 'held')

# 5.6.2: kind of core tool -> names and (posture, headless) -> the same three columns
NESTED = {
    'auto-eligible': (('read', 'read_file', 'list_dir', 'file_search', 'grep_files'), {
        ('ask', False): ('run', 'run', 'denied'),
        ('full-access', False): ('run', 'run', 'denied'),
        ('auto-review', False): ('run', 'run', 'denied'),
        ('never', False): ('run', 'run', 'denied'),
        ('full-access', True): ('run', 'run', 'denied'),
    }),
    'ordinary': (('write_file', 'edit_file'), {
        ('ask', False): ('card', 'run', 'denied'),
        ('full-access', False): ('run', 'run', 'denied'),
        ('auto-review', False): ('held', 'held', 'denied'),
        ('never', False): ('held', 'held', 'denied'),
        ('full-access', True): ('run', 'run', 'denied'),
    }),
    'forced': (('shell', 'web_fetch'), {
        ('ask', False): ('forced', 'forced', 'denied'),
        ('full-access', False): ('forced', 'forced', 'denied'),
        ('auto-review', False): ('held', 'held', 'denied'),
        ('never', False): ('held', 'held', 'denied'),
        ('full-access', True): ('nobody', 'nobody', 'denied'),
    }),
    'refused': (('execute_tools', 'request_user_input', 'mcp_x'), {
        (posture, headless): ('held', 'held', 'held')
        for posture, headless in (*((posture, False) for posture in POSTURES), ('full-access', True))
    }),
}

# What a cell looks like from outside: the error's name, the record's outcome. None: no error.
SEEN = {
    'run': (None, 'allowed'),
    'card': (None, 'approved'),
    'forced': (None, 'approved'),
    'held': ('RefusedByPolicy', 'refused-by-policy'),
    'nobody': ('NoApprover', 'no-approver'),
    'denied': ('Denied', 'denied'),
}
