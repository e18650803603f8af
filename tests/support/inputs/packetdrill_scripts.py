"""Scripts in packetdrill's syntax: a server that loses a segment, a receiver, a client, one with all other commands."""

OPEN = """// a server
`../common/defaults.sh
sysctl -q net.ipv4.tcp_congestion_control=reno`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0

   +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
  +.1 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
"""

LOSS = (
    OPEN
    + """
   /* the third of ten segments
      is lost */
   +0 write(4, ..., 10000) = 10000
   +0 > P. 1:10001(10000) ack 1
   +0 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%
  +.1 < . 1:1(0) ack 2001 win 257
   +0 < . 1:1(0) ack 2001 win 257 <sack 3001:4001,nop,nop>
   +0 < . 1:1(0) ack 2001 win 257 <sack 3001:5001,nop,nop>
   +0 < . 1:1(0) ack 2001 win 257 <sack 3001:6001,nop,nop>
   +0 > . 2001:3001(1000) ack 1
   +0 %{
        assert tcpi_ca_state == TCP_CA_Recovery
        assert tcpi_snd_ssthresh == 6
      }%
  +.1 < . 1:1(0) ack 10001 win 257
   +0 %{ assert tcpi_ca_state == TCP_CA_Open and tcpi_snd_cwnd >= 6 }%
   +0 close(4) = 0
"""
)

RECEIVER = (
    OPEN
    + """
   +0 < P. 1:1001(1000) ack 1 win 257
   +0 > . 1:1(0) ack 1001
  +.1 < P. 1001:2001(1000) ack 1 win 257
   +0 > . 1:1(0) ack 2001
   +0 < P. 3001:4001(1000) ack 1 win 257
   +0 > . 1:1(0) ack 2001 <nop,nop,sack 3001:4001>
"""
)

CLIENT = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 connect(3, ..., ...) = 0
   +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>
  +.1 < S. 0:0(0) ack 1 win 5792 <mss 1012,nop,nop,TS val 700 ecr 100>
   +0 > . 1:1(0) ack 1 <nop,nop,TS val 200 ecr 700>
   +0 write(3, ..., 1500) = 1500
   +0 > . 1:1001(1000) ack 1 <nop,nop,TS val 200 ecr 700>
   +0 > P. 1001:1501(500) ack 1 <nop,nop,TS val 200 ecr 700>
+.100 < . 1:1(0) ack 1501 win 5792 <nop,nop,TS val 800 ecr 200>
   +0 %{ assert tcpi_rtt == 100000 }%
"""

MIXED = """--tolerance_usecs=6000
--ip_version=ipv4
`../../common/defaults.sh
 ../../common/set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=1 \\
                             /proc/sys/net/ipv4/tcp_min_tso_segs=10
 # There is no tail loss probe.
 sysctl -q net/ipv4/tcp_early_retrans=0 net.ipv4.tcp_sack=1
 echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect
 ip tcp_metrics flush all > /dev/null 2>&1`

    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 setsockopt(3, SOL_TCP, TCP_MAXSEG, [900], 4) = 0
   +0...0.100 connect(3, ..., ...) = 0
   *  > S 0:0(0) <...>
  +.1 < S. 0:0(0) ack 1 win 32792 <mss 1000,nop,nop,sackOK,nop,wscale 7>
   +0 > . 1:1(0) ack 1

   +0 %{ FULL = 0x7fffffff; BEFORE = 10 }%
   +0 write(3, ..., 9000) = 1800
   +0 > P. 1:1801(1800) ack 1
   +0 %{
assert tcpi_snd_cwnd == BEFORE, 'cwnd=%d // of %d' % (tcpi_snd_cwnd, BEFORE)
assert tcpi_snd_ssthresh == FULL and 0 < tcpi_unacked <= 3
assert tcpi_unacked == 2, tcpi_unacked
print(tcpi_rtt)
}%
   +0 getsockopt(3, SOL_TCP, TCP_INFO, {
             ...}, [4]) = 0
+.3~+.310 > P. 1:901(900) ack 1
  +.1 < . 1:1(0) ack 1801 win 257
   +0 %{ assert tcpi_ca_state == TCP_CA_Open; assert 95000 <= tcpi_min_rtt <= 105000, tcpi_min_rtt }%
   +0 < P. 1:501(500) ack 1801 win 257
   +0 > . 1801:1801(0) ack 501
  +.1 close(3) = 0
   +0 > F. 1801:1801(0) ack 501
   +0 < F. 501:501(0) ack 1802 win 257
   +0 > . 1802:1802(0) ack 502

`/tmp/sysctl_restore_${PPID}.sh`
"""
