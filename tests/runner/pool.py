# SPDX-License-Identifier: MIT
"""Runs jobs of all suites beside one another, as many as the machine can bear.

There are two kinds. A job that works keeps a processor busy. A job that waits is a test of services: several processes that mostly
wait for each other, with deadlines of their own. Those must not be starved: beside them no more jobs work than there are processors to
spare, and at no time are there more jobs than processors and one. The longest begin first, so that none is left over in the end."""

import threading
from dataclasses import dataclass
from typing import Callable

WORKS, WAITS = 'works', 'waits'


@dataclass
class Job:
    work: Callable  # without arguments; may return more jobs, which are run as well
    seconds: float  # a guess, for the order alone
    kind: str = WORKS
    place: str = ''  # of jobs with the same place only one runs at a time


class Pool:
    def __init__(self, processors):
        self.processors = processors
        self.limit = processors + 1 if processors > 1 else 1
        self.pending = []
        self.running = []
        self.error = None
        self.changed = threading.Condition()

    def run(self, jobs):
        """Until every job is through, also those that others returned; raises what a job raised."""
        self.pending = list(jobs)
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(self.limit)]
        for worker in workers:
            worker.start()
        for worker in workers:
            # With a limit, or no signal would get through.
            while worker.is_alive():
                worker.join(0.5)
        if self.error:
            raise self.error

    def _work(self):
        while job := self._take():
            more = ()
            try:
                more = job.work() or ()
            except BaseException as error:  # pylint: disable=broad-except
                self.error = self.error or error
            with self.changed:
                self.running.remove(job)
                self.pending.extend(more)
                self.changed.notify_all()

    def _take(self):
        """The next job; None when there will be no more."""
        with self.changed:
            while not self.error and (self.pending or self.running):
                job = self._choose()
                if job:
                    self.pending.remove(job)
                    self.running.append(job)
                    return job
                self.changed.wait()
            self.changed.notify_all()
            return None

    def _choose(self):
        places = {job.place for job in self.running if job.place}
        free = [job for job in self.pending if job.place not in places]
        waiting = [job for job in free if job.kind == WAITS]
        working = [job for job in free if job.kind == WORKS]
        busy = sum(job.kind == WORKS for job in self.running)
        services = len(self.running) - busy
        allowed = (self.processors + 1) // 2 if waiting or services else self.processors
        if len(self.running) >= self.limit:
            return None
        if working and busy < allowed:
            return max(working, key=lambda job: job.seconds)
        return max(waiting, key=lambda job: job.seconds, default=None)
