"""Outputs of nuttcp over `dumbbell emulate --rate 10mbit --rtt 40ms --queue 1bdp --loss 1%`."""

TCP = """\
    0.8125 MB /   1.02 sec =    6.6501 Mbps    89 retrans    147 KB-cwnd
    1.2500 MB /   0.98 sec =   10.7477 Mbps    10 retrans    132 KB-cwnd
    1.1875 MB /   1.00 sec =    9.9530 Mbps    14 retrans    141 KB-cwnd
    1.1250 MB /   1.00 sec =    9.4478 Mbps     7 retrans     63 KB-cwnd

    4.8429 MB /   4.42 sec =    9.1879 Mbps 0 %TX 0 %RX 122 retrans 113 KB-cwnd 40.42 msRTT
"""
"""Output of nuttcp 8.2.2: `nuttcp -T 4 -i 1`."""
PARSABLE = """\
megabytes=0.9375 real_sec=1.00 rate_Mbps=7.8633 retrans=56 cwnd=127
megabytes=1.1250 real_sec=1.00 rate_Mbps=9.4382 retrans=11 cwnd=72

megabytes=2.6044 real_seconds=2.77 rate_Mbps=7.8775 tx_cpu=0 rx_cpu=0 retrans=73 cwnd=113 rtt_ms=40.48
"""
"""Output of nuttcp 8.2.2: `nuttcp -fparse -T 2 -i 1`."""
UDP = """\
    0.5461 MB /   1.01 sec =    4.5383 Mbps     9 /   418 ~drop/pkt  2.15 ~%loss
    0.5714 MB /   0.99 sec =    4.8261 Mbps    18 /   446 ~drop/pkt  4.04 ~%loss

    1.1189 MB /   2.11 sec =    4.4439 Mbps 11 %TX 0 %RX 27 / 865 drop/pkt 3.12 %loss
"""
"""Output of nuttcp 8.2.2: `nuttcp -u -l1400 -R5m -T 2 -i 1`."""
OLD = """\
    0.9375 MB /   1.00 sec =    7.8490 Mbps     0 retrans
    1.0625 MB /   1.00 sec =    8.9299 Mbps     0 retrans
    1.2500 MB /   1.00 sec =   10.4859 Mbps     0 retrans
    1.0625 MB /   1.00 sec =    8.8977 Mbps     0 retrans

    4.7500 MB /   4.39 sec =    9.0845 Mbps 0 %TX 0 %RX 0 retrans 53.14 msRTT
"""
"""Output of nuttcp 6.1.2, which always prints 0 retransmissions, on Linux 6.18: `nuttcp -T 4 -i 1`."""
NUTTCP_TEXTS = (TCP, PARSABLE, UDP, OLD, TCP + UDP)
