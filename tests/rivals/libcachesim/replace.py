"""Page replacement on libCacheSim: `replace.py lru|clock TRACE PAGES` prints `REFERENCES SECONDS MISSES`.

The trace is read within the library, as its documentation shows for speed; so is every reference.
"""

import sys
import time

import libcachesim

ALGORITHMS = {"lru": libcachesim.LRU, "clock": libcachesim.Clock}


def main():
    name, trace, pages = sys.argv[1:4]
    reader = libcachesim.TraceReader(trace=trace, trace_type=libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    cache = ALGORITHMS[name](cache_size=int(pages))
    references = reader.get_num_of_req()
    start = time.perf_counter()
    miss_ratio, _ = cache.process_trace(reader)
    seconds = time.perf_counter() - start
    print(references, seconds, round(miss_ratio * references))


main()
