# ruff: noqa: E501 (tables are as wide as they are)
"""Snapshots of whole outputs of commands that read results of the shelf.

`.venv/bin/pytest -n 0 --inline-snapshot=fix tests/cli/test_printed.py` writes it anew.
"""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.commands.command import Dumbbell
from support.shelf import Shelf


@pytest.mark.parametrize(
    ("name", "status", "expected_text"),
    [
        (
            "single",
            0,
            snapshot("""\
2 flows of reno together carry 9.65 Mbit/s of goodput on small, whose bottleneck can carry 10 Mbit/s, at a p95 one-way delay of 46.4 ms; lost: 1.97 % (one run).
Jain's index of 2 flows of one scheme (1: all get the same): reno 0.999.

Shares, 0.5 to 2 s, while all flows compete (corrected)
path   flows of  who       fair share %  share %  goodput Mbit/s  p95 one-way delay ms  loss %
small  reno        flow 1          50.0     48.1            4.64                  46.4    0.84
small  reno        flow 2          50.0     51.9            5.01                  46.4    3.46

All flows of a run together, 0.3 to 2 s (corrected)
path   flows of  runs  goodput Mbit/s  p95 one-way delay ms  loss %  utilisation of the whole run %
small  reno         1            9.65                  46.4    1.97                            95.6
Corrected: payload, delays and losses after the warm-up; packets under way at the end are not lost (warm-up: 0.333 s).
The flows of a run start 0.5 s apart, in the order of the column `flows of`.
"""),
        ),
        (
            "mixes",
            0,
            snapshot("""\
Alone, on lab most goodput and least p95 one-way delay: copa (9.68 Mbit/s, 16.9 ms).
Alone, most goodput: 9.68 Mbit/s, copa; 0.03 Mbit/s more than cubic, the next; the ranges of 2 runs do not overlap.
Alone, least p95 one-way delay: 16.9 ms, copa; 6.2 ms less than bbr, the next; the ranges of 2 runs do not overlap.
Alone, copa has more goodput than cubic on lab by its smaller headers only: 97.3 % of its bytes are payload, and 96.5 % of those of cubic.
Beside cubic on lab: copa 48 % (46 to 50) and bbr 58 % (54 to 62) of the payload (fair: 50 %); each range (2 runs) excludes the fair share.

Means of all flows, 0.3 to 2 s (corrected)
path  scheme  runs       goodput Mbit/s  p95 one-way delay ms               loss %  remark
lab   copa       2  9.68 (9.67 to 9.69)          16.9 (equal)         0.00 (equal)  -
lab   cubic      2         9.65 (equal)   46.4 (46.4 to 46.4)  0.54 (0.14 to 0.93)  -
lab   bbr        2         9.65 (equal)   23.1 (22.4 to 23.9)         0.00 (equal)  all losses (36 packets in 2 runs) are outside the counted time

Shares, 0.3 to 2 s, while all flows compete (corrected)
path  flows of    who    fair share %              share %       goodput Mbit/s  p95 one-way delay ms               loss %               harm %
lab   cubic+copa  cubic          50.0  52.4 (50.5 to 54.3)  5.07 (4.89 to 5.26)   45.8 (45.7 to 45.9)  1.08 (0.99 to 1.17)  47.4 (45.5 to 49.4)
lab   cubic+copa  copa           50.0  47.6 (45.7 to 49.5)  4.61 (4.42 to 4.80)   45.9 (45.8 to 45.9)  0.37 (0.31 to 0.43)  52.4 (50.5 to 54.3)
lab   cubic+bbr   cubic          50.0  41.9 (37.7 to 46.1)  4.05 (3.64 to 4.46)   46.4 (46.4 to 46.4)  4.99 (1.69 to 8.30)  58.1 (53.9 to 62.3)
lab   cubic+bbr   bbr            50.0  58.1 (53.9 to 62.3)  5.61 (5.20 to 6.01)   46.0 (45.4 to 46.6)  1.10 (0.12 to 2.09)  41.9 (37.7 to 46.1)

All flows of a run together, 0.3 to 2 s (corrected)
path  flows of    runs       goodput Mbit/s  p95 one-way delay ms               loss %  utilisation of the whole run %
lab   cubic+copa     2  9.68 (9.68 to 9.68)   45.8 (45.8 to 45.9)  0.74 (0.71 to 0.78)             96.9 (96.8 to 96.9)
lab   cubic+bbr      2         9.65 (equal)   46.0 (45.5 to 46.4)  2.89 (0.71 to 5.06)             96.6 (96.2 to 96.9)
Corrected: payload, delays and losses after the warm-up; packets under way at the end are not lost (warm-up: 0.333 s).
Harm: what a flow lost of the throughput that its scheme had alone on the path; 50 % is half of it lost.
In parentheses: the range of the 2 runs; of so few no confidence interval holds. Equal: all runs have this value.
"""),
        ),
        (
            "grid",
            0,
            snapshot("""\
Most goodput: cubic on 3 and copa on 3 of 6 cells; beyond the noise of 2 runs on 6.
Least p95 one-way delay: copa on 5 and cubic on 1 of 6 cells; beyond the noise of 2 runs on 6.
By the means cubic has the most goodput at rate factor 1, and copa at rate factor 4, in all cells.
The mean goodput grows with rate factor, for every scheme in all cells.
The mean p95 one-way delay falls with rate factor and grows with queue, for every scheme in all cells.

Means of all flows, 0.2 to 1 s (corrected)
path     bw_factor  qlen_bdp  scheme  runs          goodput Mbit/s    p95 one-way delay ms                  loss %
default          1       0.5  cubic      2     7.37 (7.37 to 7.38)     63.0 (63.0 to 63.0)  17.37 (17.32 to 17.42)
default          1       0.5  copa       2     6.68 (6.62 to 6.74)     61.8 (61.8 to 61.8)   10.04 (9.87 to 10.20)
default          1         1  cubic      2     7.28 (7.19 to 7.38)            93.1 (equal)  25.94 (25.11 to 26.77)
default          1         1  copa       2     7.09 (7.07 to 7.11)     81.4 (81.4 to 81.4)            0.00 (equal)
default          1         2  cubic      2     7.27 (7.23 to 7.31)           153.2 (equal)  15.85 (15.72 to 15.97)
default          1         2  copa       2            7.07 (equal)     81.4 (81.4 to 81.4)            0.00 (equal)
default          4       0.5  copa       2  26.96 (26.89 to 27.04)     59.9 (59.9 to 59.9)     8.13 (8.00 to 8.26)
default          4       0.5  cubic      2  24.79 (24.69 to 24.88)     59.3 (59.3 to 59.3)     4.24 (4.23 to 4.26)
default          4         1  copa       2  27.63 (26.75 to 28.50)     72.0 (71.8 to 72.2)            0.00 (equal)
default          4         1  cubic      2  25.38 (24.53 to 26.23)     90.8 (90.8 to 90.8)  27.02 (26.64 to 27.40)
default          4         2  copa       2  27.08 (26.38 to 27.78)     72.2 (72.2 to 72.2)            0.00 (equal)
default          4         2  cubic      2  24.85 (24.05 to 25.65)  150.6 (150.6 to 150.6)  13.72 (13.34 to 14.10)
Corrected: payload, delays and losses after the warm-up; packets under way at the end are not lost (warm-up: 0.167 s).
In parentheses: the range of the 2 runs; of so few no confidence interval holds. Equal: all runs have this value.
"""),
        ),
        (
            "imported",
            0,
            snapshot("""\
On data no scheme beats these in both throughput and p95 one-way delay (Pantheon's convention): cubic (0.03 Mbit/s, 38.5 ms) and vegas (0.03 Mbit/s, 38.5 ms).
In throughput cubic and vegas are equal in every run (Pantheon's convention).
In p95 one-way delay cubic and vegas are equal in every run (Pantheon's convention).

Means of all flows (Pantheon's convention)
path  scheme  runs  throughput Mbit/s  p95 one-way delay ms  loss %
data  cubic      1               0.03                  38.5    0.00
data  vegas      1               0.03                  38.5    0.00
Pantheon's convention: the whole run, packets with the path's overhead; packets under way at the end are lost.

The tested machine, as the imported files describe it
  cc_schemes: cubic vegas
  downlink_trace: 12mbps.trace
  flows: 1
  interval: 0
  mode: local
  prepend_mm_cmds: mm-delay 10
  random_order: True
  run_times: 1
  runtime: 1
  start_run_id: 1
  uplink_trace: 12mbps.trace
  git: branch: master @ 0123
"""),
        ),
        (
            "damaged",
            1,
            snapshot("""\
Of 4 runs 1 is damaged (all of cubic), and counts in no number: stats.json:13: not valid JSON: Expecting property name enclosed in double quotes; the file is cut off or damaged.
3 of 4 runs are made, 1 is missing.
On mexico-cellular no scheme beats these in both throughput and p95 one-way delay (Pantheon's convention): vegas (10.25 Mbit/s, 34.6 ms) and cubic (10.62 Mbit/s, 171.1 ms).
Most throughput: 10.62 Mbit/s, cubic; one run does not separate it from vegas (Pantheon's convention).
Least p95 one-way delay: 34.6 ms, vegas; one run does not separate it from cubic (Pantheon's convention).

Means of all flows (Pantheon's convention)
path             scheme    runs  throughput Mbit/s  p95 one-way delay ms  loss %
mexico-cellular  cubic   1 of 2              10.62                 171.1   10.17
mexico-cellular  vegas   1 of 2              10.25                  34.6    1.64
Pantheon's convention: the whole run, packets with the path's overhead; packets under way at the end are lost.
damaged: cubic on mexico-cellular, run 2: stats.json:13: not valid JSON: Expecting property name enclosed in double quotes; the file is cut off or damaged
missing: 1 of 4 runs: not run: the experiment was stopped before
"""),
        ),
        (
            "recorded",
            0,
            snapshot("""\
On mexico-cellular most throughput and least p95 one-way delay (Pantheon's convention): vegas (10.45 Mbit/s, 34.6 ms).
Most throughput: 10.45 Mbit/s, vegas; the ranges of 2 runs overlap with those of cubic (Pantheon's convention).
Least p95 one-way delay: 34.6 ms, vegas; 136.4 ms less than cubic, the next; the ranges of 2 runs do not overlap (Pantheon's convention).

Means of all flows (Pantheon's convention)
path             scheme  runs       throughput Mbit/s                          p95 one-way delay ms                  loss %
mexico-cellular  vegas      2  10.45 (10.25 to 10.65)                           34.6 (34.6 to 34.6)     1.66 (1.64 to 1.69)
mexico-cellular  cubic      2  10.42 (10.22 to 10.62)  171.0 (170.8 to 171.1) clocks 170.5 to 172.5  10.15 (10.14 to 10.17)
Pantheon's convention: the whole run, packets with the path's overhead; packets under way at the end are lost.
In parentheses: the range of the 2 runs; of so few no confidence interval holds. Equal: all runs have this value. Clocks: where the true one-way delay lies, as far as the clocks of both ends can tell.
note: cubic on mexico-cellular, run 1: a note
"""),
        ),
        (
            "emulated",
            1,
            snapshot("""\
Of 4 runs 1 is invalid and 1 is degraded, and count in no number: most often (1 times), 17 packets were lost.
On india-aws-india most throughput and least p95 one-way delay (Pantheon's convention): vegas (9.44 Mbit/s, 34.6 ms).
Most throughput: 9.44 Mbit/s, vegas; one run does not separate it from cubic (Pantheon's convention).
Least p95 one-way delay: 34.6 ms, vegas; one run does not separate it from cubic (Pantheon's convention).

Means of all flows (Pantheon's convention)
path             scheme    runs  throughput Mbit/s  p95 one-way delay ms  loss %
india-aws-india  vegas   1 of 2               9.44                  34.6    1.65
india-aws-india  cubic   1 of 2               9.43                 171.0    9.97
Pantheon's convention: the whole run, packets with the path's overhead; packets under way at the end are lost.
invalid: cubic on india-aws-india, run 2: 17 packets were lost
degraded: vegas on india-aws-india, run 2: the emulator was late
"""),
        ),
        (
            "big",
            0,
            snapshot("""\
On default most goodput: 6.47 Mbit/s, copa; least p95 one-way delay among schemes with at least half of the most goodput: 44.1 ms, koho; both leads are beyond the noise of 5 runs.
On india-aws-india most goodput: 38.61 Mbit/s, copa; least p95 one-way delay among schemes with at least half of the most goodput: 30.3 ms, bbr; both leads are beyond the noise of 5 runs.
On small most goodput: 9.44 Mbit/s, bbr, cubic, dctcp and 3 others; least p95 one-way delay among schemes with at least half of the most goodput: 21.4 ms, koho; only the lead in p95 one-way delay is beyond the noise of 5 runs.
ledbat and copa-gcc2018 on default; bbr and ledbat on india-aws-india; koho on small: the runs fall into two modes, and no run is like their mean.
bbr, copa, cubic and 7 others on default and on india-aws-india: flows last for fewer than 10 base RTTs.

Means of all flows, 0.1 to 0.5 s (corrected)
path             scheme        runs        goodput Mbit/s  p95 one-way delay ms                loss %  remark
default          copa             5     6.47 [5.78, 7.20]     62.0 [61.7, 62.2]  13.96 [12.14, 15.91]  flows last for 8.3 base RTTs
default          cubic            5     5.33 [4.50, 6.23]     61.6 [61.5, 61.6]   19.84 [8.25, 44.89]  flows last for 8.3 base RTTs
default          prague           5     5.31 [4.45, 6.25]     62.7 [62.7, 62.7]  27.94 [26.39, 29.54]  flows last for 8.3 base RTTs
default          bbr              5     5.28 [4.44, 6.19]     62.9 [62.8, 62.9]  25.24 [22.33, 28.39]  flows last for 8.3 base RTTs
default          dctcp            5     5.21 [4.40, 6.11]     61.6 [61.5, 61.6]   18.79 [8.79, 37.86]  flows last for 8.3 base RTTs
default          reno             5     5.21 [4.40, 6.11]     61.6 [61.5, 61.6]   18.79 [8.79, 37.86]  flows last for 8.3 base RTTs
default          vegas            5     5.21 [4.40, 6.11]     61.6 [61.5, 61.6]   18.79 [8.79, 37.86]  flows last for 8.3 base RTTs
default          koho             5     5.06 [4.52, 5.63]     44.1 [42.4, 45.8]          0.00 (equal)  flows last for 8.3 base RTTs
default          copa-gcc2018     5     3.62 [2.79, 4.56]     55.9 [49.0, 63.3]    9.13 [7.95, 10.41]  two modes of p95 one-way delay: 51.8 ms (3 of 5 runs) and 62.1 ms (2)
default          ledbat           5     0.63 [0.54, 0.71]          34.5 (equal)          0.00 (equal)  two modes of throughput: 0.63 Mbit/s (3 of 5 runs) and 0.68 Mbit/s (2)
india-aws-india  copa             5  38.61 [31.10, 46.69]     47.7 [47.6, 47.7]    8.71 [7.41, 10.18]  flows last for 9.1 base RTTs
india-aws-india  cubic            5  25.25 [17.74, 33.90]     45.2 [43.1, 47.2]  15.99 [11.52, 20.93]  flows last for 9.1 base RTTs
india-aws-india  dctcp            5  25.25 [17.74, 33.90]     45.2 [43.1, 47.2]  15.99 [11.52, 20.93]  flows last for 9.1 base RTTs
india-aws-india  reno             5  25.25 [17.74, 33.90]     45.2 [43.1, 47.2]  15.99 [11.52, 20.93]  flows last for 9.1 base RTTs
india-aws-india  vegas            5  25.25 [17.74, 33.90]     45.2 [43.1, 47.2]  15.99 [11.52, 20.93]  flows last for 9.1 base RTTs
india-aws-india  prague           5  24.18 [16.75, 32.65]     35.3 [26.4, 44.6]   12.15 [2.23, 22.06]  flows last for 9.1 base RTTs
india-aws-india  bbr              5  22.28 [14.84, 30.88]     30.3 [23.9, 36.7]    4.02 [0.00, 15.17]  two modes of p95 one-way delay: 28.0 ms (4 of 5 runs) and 39.4 ms (1)
india-aws-india  koho             5     8.51 [7.17, 9.91]     29.2 [28.6, 29.7]          0.00 (equal)  flows last for 9.1 base RTTs
india-aws-india  copa-gcc2018     5    8.35 [4.92, 12.75]     28.0 [28.0, 28.0]          0.00 (equal)  flows last for 9.1 base RTTs
india-aws-india  ledbat           5     0.72 [0.68, 0.77]     28.0 [28.0, 28.0]          0.00 (equal)  two modes of goodput: 0.71 Mbit/s (4 of 5 runs) and 0.79 Mbit/s (1)
small            bbr              5     9.44 [9.12, 9.76]     46.4 [46.4, 46.4]     5.24 [5.07, 5.41]  -
small            cubic            5     9.44 [9.12, 9.76]     46.4 [46.4, 46.4]  21.46 [20.89, 22.04]  -
small            dctcp            5     9.44 [9.12, 9.76]     46.4 [46.4, 46.4]  13.54 [13.14, 13.94]  -
small            prague           5     9.44 [9.12, 9.76]     47.1 [47.1, 47.1]  17.90 [17.40, 18.41]  -
small            reno             5     9.44 [9.12, 9.76]     46.4 [46.4, 46.4]  13.54 [13.14, 13.94]  -
small            vegas            5     9.44 [9.12, 9.76]     35.6 [35.6, 35.6]          0.00 (equal)  -
small            copa             5     9.29 [9.17, 9.41]     29.5 [28.9, 30.2]          0.00 (equal)  -
small            koho             5     9.26 [9.16, 9.37]     21.4 [20.7, 22.0]          0.00 (equal)  two modes of p95 one-way delay: 21.6 ms (4 of 5 runs) and 20.4 ms (1)
small            copa-gcc2018     5     8.09 [7.91, 8.28]     31.9 [31.9, 31.9]          0.00 (equal)  -
small            ledbat           5     4.38 [3.67, 5.16]     13.6 [13.6, 13.6]          0.00 (equal)  -
Corrected: payload, delays and losses after the warm-up; packets under way at the end are not lost (warm-up: 0.1 s).
In brackets: the interval of the mean by Student's t, nominally of 95 %: it cannot know what none of the runs showed. Equal: all runs have this value.
"""),
        ),
    ],
)
def test_show(dumbbell: Dumbbell, shelf: Shelf, name: str, status: int, expected_text: str) -> None:
    result = dumbbell("show", getattr(shelf, name), expect=status)
    assert result.stdout + result.stderr == expected_text


def test_show_a_campaign(dumbbell: Dumbbell, shelf: Shelf) -> None:
    result = dumbbell("show", shelf.campaign, expect=1)
    assert result.stdout + result.stderr == snapshot("""\
98 of the campaign's 100 runs are made: the other 2 were missed, or are still to come.
On small no scheme beats these in both goodput and p95 one-way delay: copa (11.54 Mbit/s, 29.8 ms) and reno (11.68 Mbit/s, 46.4 ms).
Most goodput: 11.68 Mbit/s, reno; 48 runs do not separate it from copa (difference 0.14 Mbit/s [-2.64, 2.91]).
Least p95 one-way delay: 29.8 ms, copa; 16.6 ms [16.6, 16.6] less than reno, the next.
The warm-up of 0.08 s is 4.2 base RTTs: the start of flows may be in the numbers.

Means of all flows, 0.1 to 0.5 s (corrected)
path   scheme      runs       goodput Mbit/s  p95 one-way delay ms                loss %
small  reno          50  11.68 [9.73, 13.63]     46.4 [46.4, 46.4]  13.37 [13.21, 13.54]
small  copa    48 of 50  11.54 [9.52, 13.57]     29.8 [29.8, 29.8]          0.00 (equal)
Corrected: payload, delays and losses after the warm-up; packets under way at the end are not lost (warm-up: 0.0833 s).
In brackets: the interval of the mean by Student's t, nominally of 95 %: it cannot know what none of the runs showed. Equal: all runs have this value.
missing: 2 of 100 runs: not run: its round was missed, or is still to come
""")


@pytest.mark.parametrize(
    ("words", "status", "expected_text"),
    [
        (
            ("diff", "recorded", "damaged"),
            1,
            snapshot("""\
path             scheme  of       metric                                              A         B  difference  relative  nominal 95 %  would show  3 % takes  verdict
mexico-cellular  cubic   network  throughput_mbps                               10.4170   10.6151     +0.1982     +1.9%             -           -          -  one run only
mexico-cellular  cubic   network  delay_p95_ms     170.9520 clocks 170.4520 to 172.4520  171.0820     +0.1300     +0.1%             -           -          -  one run only
mexico-cellular  cubic   network  loss_rate                                      0.1015    0.1017     +0.0002     +0.2%             -           -          -  one run only
mexico-cellular  cubic   flow 1   throughput_mbps                               10.4170   10.6151     +0.1982     +1.9%             -           -          -  one run only
mexico-cellular  cubic   flow 1   delay_p95_ms     170.9520 clocks 170.4520 to 172.4520  171.0820     +0.1300     +0.1%             -           -          -  one run only
mexico-cellular  cubic   flow 1   loss_rate                                      0.1015    0.1017     +0.0002     +0.2%             -           -          -  one run only
mexico-cellular  cubic   link 1   throughput_mbps                               10.4170   10.6151     +0.1982     +1.9%             -           -          -  one run only
mexico-cellular  vegas   network  throughput_mbps                               10.4483   10.2493     -0.1991     -1.9%             -           -          -  one run only
mexico-cellular  vegas   network  delay_p95_ms                                  34.5900   34.5930     +0.0030     +0.0%             -           -          -  one run only
mexico-cellular  vegas   network  loss_rate                                      0.0166    0.0164     -0.0003     -1.5%             -           -          -  one run only
mexico-cellular  vegas   flow 1   throughput_mbps                               10.4483   10.2493     -0.1991     -1.9%             -           -          -  one run only
mexico-cellular  vegas   flow 1   delay_p95_ms                                  34.5900   34.5930     +0.0030     +0.0%             -           -          -  one run only
mexico-cellular  vegas   flow 1   loss_rate                                      0.0166    0.0164     -0.0003     -1.5%             -           -          -  one run only
mexico-cellular  vegas   link 1   throughput_mbps                               10.4483   10.2493     -0.1991     -1.9%             -           -          -  one run only
Ranges of the runs are compared: intervals and tests need five runs on either side.
damaged: damaged: cubic on mexico-cellular, run 2: stats.json:13: not valid JSON: Expecting property name enclosed in double quotes; the file is cut off or damaged
"""),
        ),
        (
            ("diff", "mixes", "single"),
            0,
            snapshot("""\
path         scheme      of       metric                  A        B  difference  relative  nominal 95 %  would show  3 % takes  verdict
lab | small  cubic       network  goodput_mbps       9.6541        -           -         -             -           -          -  only in A
lab | small  cubic       network  packet_loss_rate   0.0054        -           -         -             -           -          -  only in A
lab | small  cubic       network  owd_p95_ms        46.3925        -           -         -             -           -          -  only in A
lab | small  cubic       flow 1   goodput_mbps       9.6541        -           -         -             -           -          -  only in A
lab | small  cubic       flow 1   packet_loss_rate   0.0054        -           -         -             -           -          -  only in A
lab | small  cubic       flow 1   owd_p95_ms        46.3925        -           -         -             -           -          -  only in A
lab | small  copa        network  goodput_mbps       9.6821        -           -         -             -           -          -  only in A
lab | small  copa        network  packet_loss_rate   0.0000        -           -         -             -           -          -  only in A
lab | small  copa        network  owd_p95_ms        16.9370        -           -         -             -           -          -  only in A
lab | small  copa        flow 1   goodput_mbps       9.6821        -           -         -             -           -          -  only in A
lab | small  copa        flow 1   packet_loss_rate   0.0000        -           -         -             -           -          -  only in A
lab | small  copa        flow 1   owd_p95_ms        16.9370        -           -         -             -           -          -  only in A
lab | small  bbr         network  goodput_mbps       9.6541        -           -         -             -           -          -  only in A
lab | small  bbr         network  packet_loss_rate   0.0000        -           -         -             -           -          -  only in A
lab | small  bbr         network  owd_p95_ms        23.1365        -           -         -             -           -          -  only in A
lab | small  bbr         flow 1   goodput_mbps       9.6541        -           -         -             -           -          -  only in A
lab | small  bbr         flow 1   packet_loss_rate   0.0000        -           -         -             -           -          -  only in A
lab | small  bbr         flow 1   owd_p95_ms        23.1365        -           -         -             -           -          -  only in A
lab | small  cubic+copa  network  goodput_mbps       9.6841        -           -         -             -           -          -  only in A
lab | small  cubic+copa  network  packet_loss_rate   0.0074        -           -         -             -           -          -  only in A
lab | small  cubic+copa  network  owd_p95_ms        45.8450        -           -         -             -           -          -  only in A
lab | small  cubic+copa  flow 1   goodput_mbps       5.0738        -           -         -             -           -          -  only in A
lab | small  cubic+copa  flow 1   packet_loss_rate   0.0108        -           -         -             -           -          -  only in A
lab | small  cubic+copa  flow 1   owd_p95_ms        45.8130        -           -         -             -           -          -  only in A
lab | small  cubic+copa  flow 2   goodput_mbps       4.6103        -           -         -             -           -          -  only in A
lab | small  cubic+copa  flow 2   packet_loss_rate   0.0037        -           -         -             -           -          -  only in A
lab | small  cubic+copa  flow 2   owd_p95_ms        45.8535        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   network  goodput_mbps       9.6541        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   network  packet_loss_rate   0.0289        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   network  owd_p95_ms        45.9560        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   flow 1   goodput_mbps       4.0486        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   flow 1   packet_loss_rate   0.0499        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   flow 1   owd_p95_ms        46.3860        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   flow 2   goodput_mbps       5.6055        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   flow 2   packet_loss_rate   0.0110        -           -         -             -           -          -  only in A
lab | small  cubic+bbr   flow 2   owd_p95_ms        45.9670        -           -         -             -           -          -  only in A
lab | small  reno        network  goodput_mbps            -   9.6541           -         -             -           -          -  only in B
lab | small  reno        network  packet_loss_rate        -   0.0197           -         -             -           -          -  only in B
lab | small  reno        network  owd_p95_ms              -  46.3910           -         -             -           -          -  only in B
lab | small  reno        flow 1   goodput_mbps            -   5.2058           -         -             -           -          -  only in B
lab | small  reno        flow 1   packet_loss_rate        -   0.0066           -         -             -           -          -  only in B
lab | small  reno        flow 1   owd_p95_ms              -  46.3950           -         -             -           -          -  only in B
lab | small  reno        flow 2   goodput_mbps            -   5.0083           -         -             -           -          -  only in B
lab | small  reno        flow 2   packet_loss_rate        -   0.0346           -         -             -           -          -  only in B
lab | small  reno        flow 2   owd_p95_ms              -  46.3520           -         -             -           -          -  only in B
Ranges of the runs are compared: intervals and tests need five runs on either side.
"""),
        ),
        (("verify", "mixes"), 0, snapshot("10 of 10 finished runs are whole, 0 files damaged or missing\n")),
        (
            ("verify", "damaged"),
            1,
            snapshot("""\
damaged: damaged: cubic on mexico-cellular, run 2: stats.json:13: not valid JSON: Expecting property name enclosed in double quotes; the file is cut off or damaged
damaged: damaged: vegas on mexico-cellular, run 2: packets.parquet is missing
1 of 3 finished runs are whole, 2 files damaged or missing; 1 other runs are not finished; of 1 runs no digests were recorded
"""),
        ),
        (
            ("figure", "mixes"),
            0,
            snapshot("""\
kind             of         shows                                                                                                              options
box              path       a metric of every run by scheme, with quartiles and median; throughput unless one is given                         metric, schemes, group_by
ecdf             path       distribution of a metric over the runs of each scheme, as eCDFs; throughput unless one is given                    metric, schemes
ellipses         path       throughput over RTT: flows of each scheme, with an ellipse of one standard deviation                               schemes
jain-cdf         path       distribution of Jain's index over windows of time, of each scheme
means            path       one metric over another, throughput over delay unless others are given: mean of each scheme, and the Pareto front  x, y, schemes
runs             path       one metric over another, throughput over delay unless others are given: every run                                  x, y, schemes
by-hour          campaign   throughput, delay and loss of each hour of the day (UTC): medians and quartiles
over-time        campaign   throughput, delay and loss of every round
normalised       all paths  throughput as a share of the experiment's largest over mean queueing delay, all paths together                     beside, legacy
grid             grid       a metric of each scheme over two axes of a grid, as heat maps; use of the bottleneck unless another one is given   x, y, metric, schemes, range
share            grid       what each scheme gets of the payload beside each other one, in runs of two schemes or two flows                    schemes
sweep            grid       metrics of each scheme along an axis of a grid: throughput, delay and loss unless one is given                     x, metric, schemes, group_by
delay            run        one-way delay of every packet
delay-cdf        run        distribution of the one-way delay of packets, of each flow
distribution     run        distribution of the throughput and smoothed RTT samples of each flow, as eCDFs
fairness         run        shares of the flows, and Jain's index
jain             run        fairness in windows of time, as Jain's index
media            run        bitrate and frame delay
operating-point  run        packets in flight, RTT and throughput
queue            run        queue, drops and marks at the bottleneck
staircase        run        throughput of each flow, and their mean
state            run        the controller's modes and what decides them
throughput       run        rates into and out of the path in half seconds, with headers; as Pantheon draws it, out is at the end of each
time             run        a sampled field of each flow or link over time; throughput unless one is given                                     metric, from_s, to_s
window           run        congestion window and pacing rate
"""),
        ),
        (
            ("show", "--sort", "owd_p95_ms", "--schemes", "cubic,bbr", "mixes"),
            0,
            snapshot("""\
On lab most goodput and least p95 one-way delay: bbr (9.65 Mbit/s, 23.1 ms).
In goodput cubic and bbr are equal in every run.
Least p95 one-way delay: 23.1 ms, bbr; 23.3 ms less than cubic, the next; the ranges of 2 runs do not overlap.
bbr: all losses (36 packets in 2 runs) are outside the counted time.

Means of all flows, 0.3 to 2 s (corrected)
path  scheme  runs  goodput Mbit/s  p95 one-way delay ms               loss %  remark
lab   bbr        2    9.65 (equal)   23.1 (22.4 to 23.9)         0.00 (equal)  all losses (36 packets in 2 runs) are outside the counted time
lab   cubic      2    9.65 (equal)   46.4 (46.4 to 46.4)  0.54 (0.14 to 0.93)  -
Corrected: payload, delays and losses after the warm-up; packets under way at the end are not lost (warm-up: 0.333 s).
In parentheses: the range of the 2 runs; of so few no confidence interval holds. Equal: all runs have this value.
"""),
        ),
        (
            ("show", "--metrics", "goodput_mbps,owd_p99_ms", "single"),
            0,
            snapshot("""\
path   scheme  of       goodput_mbps (Mbit/s)  owd_p99_ms (ms)
small  reno    flow 1                  5.2058          46.3990
small  reno    flow 2                  5.0083          46.3980
small  reno    network                 9.6541          46.3990
"""),
        ),
        (
            ("show", "--intervals", "0.5", "single"),
            0,
            snapshot("""\
Client: reno on small, run 1
[ ID] Interval       Transfer     Bandwidth
[  1]  0.1- 0.5 sec   498 KBytes  1122 KBytes/sec
[SUM]  0.1- 0.5 sec   498 KBytes  1122 KBytes/sec
[  1]  0.5- 1.0 sec   321 KBytes   642 KBytes/sec
[  2]  0.5- 1.0 sec   296 KBytes   615 KBytes/sec
[SUM]  0.5- 1.0 sec   617 KBytes  1233 KBytes/sec
[  1]  1.0- 1.5 sec   269 KBytes   537 KBytes/sec
[  2]  1.0- 1.5 sec   313 KBytes   625 KBytes/sec
[SUM]  1.0- 1.5 sec   581 KBytes  1162 KBytes/sec
[  1]  1.5- 2.0 sec   262 KBytes   523 KBytes/sec
[  2]  1.5- 2.0 sec   318 KBytes   636 KBytes/sec
[SUM]  1.5- 2.0 sec   580 KBytes  1160 KBytes/sec
[  1]  0.1- 2.0 sec  1349 KBytes   694 KBytes/sec
[  2]  0.5- 2.0 sec   926 KBytes   626 KBytes/sec
[SUM]  0.1- 2.0 sec  2275 KBytes  1171 KBytes/sec

Server: reno on small, run 1
[ ID] Interval       Transfer     Bandwidth
[  1]  0.1- 0.5 sec   474 KBytes  1068 KBytes/sec
[SUM]  0.1- 0.5 sec   474 KBytes  1068 KBytes/sec
[  1]  0.5- 1.0 sec   318 KBytes   636 KBytes/sec
[  2]  0.5- 1.0 sec   272 KBytes   565 KBytes/sec
[SUM]  0.5- 1.0 sec   590 KBytes  1179 KBytes/sec
[  1]  1.0- 1.5 sec   272 KBytes   543 KBytes/sec
[  2]  1.0- 1.5 sec   318 KBytes   636 KBytes/sec
[SUM]  1.0- 1.5 sec   590 KBytes  1179 KBytes/sec
[  1]  1.5- 2.0 sec   273 KBytes   546 KBytes/sec
[  2]  1.5- 2.0 sec   315 KBytes   631 KBytes/sec
[SUM]  1.5- 2.0 sec   588 KBytes  1176 KBytes/sec
[  1]  0.1- 2.0 sec  1336 KBytes   688 KBytes/sec
[  2]  0.5- 2.0 sec   905 KBytes   611 KBytes/sec
[SUM]  0.1- 2.0 sec  2241 KBytes  1153 KBytes/sec

"""),
        ),
        (
            ("show", "--csv", "emulated"),
            1,
            snapshot("""\
path,scheme,runs,good,level,number,throughput_mbps,throughput_mbps_low,throughput_mbps_high,throughput_mbps_bounds,delay_p95_ms,delay_p95_ms_low,delay_p95_ms_high,delay_p95_ms_bounds,loss_rate,loss_rate_low,loss_rate_high,loss_rate_bounds
india-aws-india,cubic,2,1,network,0,9.429902862845267,,,,171.035,,,,0.09965034965034969,,,
india-aws-india,vegas,2,1,network,0,9.43809825364737,,,,34.592,,,,0.016497461928933976,,,
invalid: cubic on india-aws-india, run 2: 17 packets were lost
degraded: vegas on india-aws-india, run 2: the emulator was late
"""),
        ),
        (
            ("show", "--tex", "imported"),
            0,
            snapshot("""\
% On data no scheme beats these in both throughput and p95 one-way delay (Pantheon's convention): cubic (0.03 Mbit/s, 38.5 ms) and vegas (0.03 Mbit/s, 38.5 ms).
% In throughput cubic and vegas are equal in every run (Pantheon's convention).
% In p95 one-way delay cubic and vegas are equal in every run (Pantheon's convention).

% needs \\usepackage{booktabs}
\\begin{table*}
\\centering
\\caption{Means of all flows (Pantheon's convention), on data. 1 run of 1 s. Pantheon's convention: the whole run, packets with the path's overhead; packets under way at the end are lost.}
\\label{tab:means-data}
\\begin{tabular}{lrrrr}
\\toprule
scheme & runs & throughput Mbit/s & p95 one-way delay ms & loss \\% \\\\
\\midrule
TCP Cubic & 1 & 0.03 & 38.5 & 0.00 \\\\
TCP Vegas & 1 & 0.03 & 38.5 & 0.00 \\\\
\\bottomrule
\\end{tabular}
\\end{table*}
"""),
        ),
    ],
)
def test_others(
    dumbbell: Dumbbell, shelf: Shelf, tmp_path: Path, words: tuple[str, ...], status: int, expected_text: str
) -> None:
    names = ("mixes", "single", "recorded", "damaged", "emulated", "imported")
    for name in set(words) & set(names):
        (tmp_path / name).symlink_to(getattr(shelf, name))
    result = dumbbell(*words, expect=status)
    assert result.stdout + result.stderr == expected_text
