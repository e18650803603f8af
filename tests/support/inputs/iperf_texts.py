"""Outputs of iperf2 and iperf3, by hand."""

IPERF3 = """\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 57838 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec    4    100 KBytes       (omitted)
[  5]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec    2    100 KBytes
[  5]   1.00-2.00   sec  1.25 MBytes  10.5 Mbits/sec    1    300 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec  2.50 MBytes  10.5 Mbits/sec    3             sender
[  5]   0.00-2.10   sec  2.25 MBytes  9.00 Mbits/sec                  receiver

iperf Done.
"""
IPERF3_REVERSE = """\
Connecting to host 10.0.0.2, port 5201
Reverse mode, remote host 10.0.0.2 is sending
[  5] local 10.0.0.1 port 5000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  1.19 MBytes  10.0 Mbits/sec
[  5]   1.00-2.00   sec  1.19 MBytes  10.0 Mbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.04   sec  2.50 MBytes  10.3 Mbits/sec    7             sender
[  5]   0.00-2.00   sec  2.38 MBytes  10.0 Mbits/sec                  receiver
"""
IPERF3_BOTH_WAYS = """\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 5000 connected to 10.0.0.2 port 5201
[  7] local 10.0.0.1 port 5002 connected to 10.0.0.2 port 5201
[ ID][Role] Interval           Transfer     Bitrate         Retr  Cwnd
[  5][TX-C]   0.00-1.00   sec  1.19 MBytes  10.0 Mbits/sec    0    100 KBytes
[  7][RX-C]   0.00-1.00   sec  2.38 MBytes  20.0 Mbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID][Role] Interval           Transfer     Bitrate         Retr
[  5][TX-C]   0.00-1.00   sec  1.19 MBytes  10.0 Mbits/sec    0             sender
[  5][TX-C]   0.00-1.02   sec  1.15 MBytes  9.50 Mbits/sec                  receiver
[  7][RX-C]   0.00-1.00   sec  2.40 MBytes  20.1 Mbits/sec    3             sender
[  7][RX-C]   0.00-1.02   sec  2.38 MBytes  19.5 Mbits/sec                  receiver
"""
IPERF3_SERVER = """\
-----------------------------------------------------------
Server listening on 5201 (test #1)
-----------------------------------------------------------
Accepted connection from 10.0.0.1, port 46222
[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 46236
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  1.19 MBytes  10.0 Mbits/sec
[  5]   1.00-2.00   sec  1.19 MBytes  10.0 Mbits/sec
[  5]   2.00-2.04   sec  50.0 KBytes  10.2 Mbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-2.04   sec  0.00 Bytes  0.00 bits/sec                  sender
[  5]   0.00-2.04   sec  2.43 MBytes  10.0 Mbits/sec                  receiver
"""
IPERF3_UDP = """\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 57838 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  91
[  5]   1.00-2.00   sec   127 KBytes  1.04 Mbits/sec  90
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-2.00   sec   255 KBytes  1.05 Mbits/sec  0.000 ms  0/181 (0%)  sender
[  5]   0.00-2.00   sec   246 KBytes  1.00 Mbits/sec  0.020 ms  9/181 (5%)  receiver
"""
IPERF3_OLD_UDP = """\
Connecting to host 10.0.0.2, port 5201
[  4] local 10.0.0.1 port 58683 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec  1000
[  4]   1.00-2.00   sec  1.25 MBytes  10.5 Mbits/sec  1000
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-2.00   sec  2.50 MBytes  10.5 Mbits/sec  0.393 ms  1500/2000 (75%)
[  4] Sent 2000 datagrams
"""
IPERF3_OLD_UDP_SERVER = """\
Server listening on 5201
-----------------------------------------------------------
Accepted connection from 10.0.0.1, port 46222
[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 46236
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec   610 KBytes  5.00 Mbits/sec  0.393 ms  500/1000 (50%)
[  5]   1.00-2.00   sec   610 KBytes  5.00 Mbits/sec  0.393 ms  500/1000 (50%)
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-2.00   sec  0.00 Bytes  0.00 bits/sec  0.393 ms  1000/2000 (50%)
"""
IPERF2_SERVER = """\
------------------------------------------------------------
Server listening on TCP port 5001
TCP window size: 85.3 KByte (default)
------------------------------------------------------------
[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000
[ ID] Interval       Transfer     Bandwidth
[  4]  0.0- 1.0 sec  1.19 MBytes  10.0 Mbits/sec
[  4]  1.0- 2.0 sec  1.19 MBytes  10.0 Mbits/sec
[  4]  0.0- 2.1 sec  2.50 MBytes  10.1 Mbits/sec
[  5] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40001
[  5]  0.0- 1.0 sec   610 KBytes  5.00 Mbits/sec
[  5]  0.0- 1.0 sec   610 KBytes  5.00 Mbits/sec
"""
IPERF2_ENHANCED = """\
------------------------------------------------------------
Client connecting to 10.0.0.2, TCP port 5600 with pid 90972 (1 flows)
Write buffer size: 131072 Byte
------------------------------------------------------------
[  1] local 10.0.0.1%lo port 56462 connected with 10.0.0.2 port 5600 (MSS=1448) (sock=3) (irtt/icwnd=25/319) (ct=0.1 ms)
[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)        NetPwr
[  1] 0.0000-1.0000 sec   128 KBytes  1.05 Mbits/sec  1/0          1      100K/20000(26) us  3974
[  1] 1.0000-2.0000 sec   128 KBytes  1.05 Mbits/sec  1/0          2      300K/40000(10543) us  25
[  1] 2.0000-3.0000 sec   128 KBytes  1.05 Mbits/sec  1/0          0       NA/40000 us  25
[  1] 0.0000-3.0034 sec   384 KBytes  1.05 Mbits/sec  3/0          3      300K/40000(4631) us  50
"""
IPERF2_UDP = """\
Client connecting to 10.0.0.2, UDP port 5001
Sending 1470 byte datagrams
[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 5.0 sec   642 KBytes  1.05 Mbits/sec
[  3]  5.0-10.0 sec   642 KBytes  1.05 Mbits/sec
[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec
[  3] Sent 893 datagrams
[  3] Server Report:
[  3]  0.0-10.0 sec  1.23 MBytes  1.03 Mbits/sec   0.026 ms   13/  893 (1.5%)
"""
IPERF2_CSV = """\
20231114221320,10.0.0.2,5001,10.0.0.1,40000,3,0.0-1.0,1250000,10000000
20231114221321,10.0.0.2,5001,10.0.0.1,40000,3,1.0-2.0,1250000,10000000
20231114221321,10.0.0.2,5001,10.0.0.1,40000,3,0.0-2.0,2500000,10000000
20231114221331,10.0.0.2,5001,10.0.0.1,40001,4,0.0-1.0,625000,5000000
"""
IPERF_TEXTS = (
    *(IPERF3, IPERF3_REVERSE, IPERF3_BOTH_WAYS, IPERF3_SERVER, IPERF3_UDP, IPERF3_OLD_UDP),
    *(IPERF3_OLD_UDP_SERVER, IPERF2_SERVER, IPERF2_ENHANCED, IPERF2_UDP, IPERF2_CSV),
)
