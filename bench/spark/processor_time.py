"""Processor seconds of everything that processes started, by the kernel's accounts in /proc."""

import os
import threading

TICKS = os.sysconf("SC_CLK_TCK")


def accounts():
    """Parent, and ticks of a process with the children that it has waited for, by number."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # It has just ended.
        found[int(name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    return found


class TreeTime:
    """What the descendants of some processes use while this is entered; looks 50 times a second.

    A process whose parent has waited for it is in its parent's account. One that went together with
    its parent counts as it was last seen, so that what it used since then is missed.
    """

    def __init__(self, roots):
        self.roots, self.known, self.gone = roots, {}, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def look(self):
        all_now = accounts()
        own, size = set(self.roots), 0
        while size != len(own):
            size = len(own)
            # One whose parent went is still ours.
            own |= {number for number, (parent, _) in all_now.items() if parent in own or number in self.known}
        now = {number: all_now[number] for number in own if number in all_now}
        for number, (parent, ticks) in self.known.items():
            if number not in now and parent not in now:
                self.gone += ticks
        self.known = now
        return (self.gone + sum(ticks for _, ticks in now.values())) / TICKS

    def watch(self):
        while not self.over.wait(0.02):
            self.look()

    def __enter__(self):
        self.before = self.look()
        self.idle = len(self.known)
        self.thread.start()
        return self

    def __exit__(self, *_):
        # What an application started goes a moment after it.
        for _ in range(500):
            if len(self.known) <= self.idle or self.over.wait(0.02):
                break
        self.over.set()
        self.thread.join()
        self.seconds = self.look() - self.before
