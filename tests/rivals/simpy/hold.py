"""The hold model on SimPy: `hold.py PENDING EVENTS` prints `EVENTS SECONDS TIME_NS`.

Bare timeouts with a callback, which SimPy runs faster than processes.
"""

import sys
import time

import simpy


def distances_ns():
    """The distances between an event and the one that it brings about; see tests/bench/src/main.rs."""
    state = 1
    for _ in range(1 << 16):
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        yield (state >> 44) + 1


def main():
    pending, events = (int(text) for text in sys.argv[1:3])
    distances = list(distances_ns())
    environment = simpy.Environment()
    timeout = environment.timeout
    scheduled = 0

    def schedule(_event):
        nonlocal scheduled
        timeout(distances[scheduled & 0xFFFF]).callbacks.append(schedule)
        scheduled += 1

    for _ in range(pending):
        schedule(None)
    step = environment.step
    start = time.perf_counter()
    for _ in range(events):
        step()
    seconds = time.perf_counter() - start
    print(events, seconds, environment.now)


main()
