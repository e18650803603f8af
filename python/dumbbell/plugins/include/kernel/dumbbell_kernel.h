/*
 * What a file of Linux' net/ipv4/tcp_*.c finds in the headers that it includes, as far as a congestion controller needs it.
 * `dumbbell plugin kernel FILE` compiles the file with this in the place of every <linux/...>, <net/...> and <asm/...>, and
 * with adapter.c beside it. Nothing here is the kernel's text; names and meanings are, as of Linux v6.12 and, for what BBRv3
 * has besides (`tso_segs`, `skb_marked_lost`, `lost` and `tx_in_flight` of a sample), of google/bbr@001a430.
 *
 * One structure stands for the socket; windows and counts are in packets, sequence numbers in bytes modulo 2^32, time in us
 * and in jiffies of 1 ms. Clocks do not begin at 0, which many files use for "not set".
 */
#ifndef DUMBBELL_KERNEL_H
#define DUMBBELL_KERNEL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Types and attributes -------------------------------------------------------------------------------------- */

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __be16;
typedef uint32_t u32, __u32, __be32;
typedef uint64_t u64, __u64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef int64_t s64, __s64, ktime_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef long ssize_t;

#define __read_mostly
#define __init
#define __exit
#define __bpf_kfunc
#define __maybe_unused __attribute__((unused))
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define __packed __attribute__((packed))
#define ____cacheline_aligned
#define ____cacheline_aligned_in_smp
#define fallthrough __attribute__((fallthrough))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define cmpxchg(place, old, new) __sync_val_compare_and_swap(place, old, new)
#define BUILD_BUG_ON(x) _Static_assert(!(x), #x)
#define WARN_ON(x) (!!(x))
#define WARN_ON_ONCE(x) (!!(x))
#define WARN_ONCE(x, ...) (!!(x))
#define BITS_PER_TYPE(type) (sizeof(type) * 8)
#define __stringify_1(...) #__VA_ARGS__
#define __stringify(...) __stringify_1(__VA_ARGS__)
#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define BIT(n) (1UL << (n))
#define IS_ENABLED(x) 0
#define sizeof_field(type, field) sizeof(((type *)0)->field)
#define container_of(place, type, member) ((type *)((char *)(place) - offsetof(type, member)))
#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define S32_MAX INT32_MAX

/* ---- Arithmetic ------------------------------------------------------------------------------------------------ */

#define min(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(type, a, b) ({ type a_ = (a); type b_ = (b); a_ < b_ ? a_ : b_; })
#define max_t(type, a, b) ({ type a_ = (a); type b_ = (b); a_ > b_ ? a_ : b_; })
#define abs(x) ({ __typeof__(x) v_ = (x); v_ < 0 ? -v_ : v_; })
#define min3(a, b, c) min(min(a, b), c)
#define max3(a, b, c) max(max(a, b), c)
#define min_not_zero(a, b) ({ __typeof__(a) x_ = (a); __typeof__(b) y_ = (b); x_ == 0 ? y_ : y_ == 0 ? x_ : min(x_, y_); })
#define clamp(x, low, high) ({ __typeof__(x) v_ = (x); __typeof__(x) l_ = (low), h_ = (high); v_ < l_ ? l_ : v_ > h_ ? h_ : v_; })
#define clamp_t(type, x, low, high) min_t(type, max_t(type, x, low), high)
#define clamp_val(x, low, high) clamp_t(__typeof__(x), x, low, high)
#define swap(a, b) do { __typeof__(a) old_ = (a); (a) = (b); (b) = old_; } while (0)
#define DIV_ROUND_UP(a, b) (((a) + (b) - 1) / (b))
#define DIV_ROUND_UP_ULL(a, b) (((u64)(a) + (b) - 1) / (b))
#define DIV_ROUND_CLOSEST(a, b) (((a) + (b) / 2) / (b))
/* Divides `a` in its place and gives the remainder. */
#define do_div(a, b) ({ u32 by_ = (b); u32 rest_ = (u64)(a) % by_; (a) = (u64)(a) / by_; rest_; })
#define div64_long(a, b) div64_s64((a), (b))
#define div64_ul(a, b) div64_u64((a), (b))

static inline u64 div_u64(u64 a, u32 b) { return a / b; }
static inline u64 div64_u64(u64 a, u64 b) { return a / b; }
static inline s64 div_s64(s64 a, s32 b) { return a / b; }
static inline s64 div64_s64(s64 a, s64 b) { return a / b; }
static inline int fls(u32 x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline int ilog2(u64 x) { return fls64(x) - 1; }
static inline bool is_power_of_2(unsigned long x) { return x != 0 && (x & (x - 1)) == 0; }

static inline unsigned long int_sqrt(unsigned long x)
{
    unsigned long root = 0;

    for (unsigned long bit = 1UL << (sizeof bit * 4 - 1); bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= x)
            root |= bit;
    return root;
}

/* Of sequence numbers, which wrap. */
static inline bool before(u32 a, u32 b) { return (s32)(a - b) < 0; }
static inline bool after(u32 a, u32 b) { return before(b, a); }
static inline bool between(u32 x, u32 low, u32 high) { return high - low >= x - low; }

/* ---- Time: what the flow that is being called has -------------------------------------------------------------- */

#define HZ 1000
#define USEC_PER_MSEC 1000L
#define USEC_PER_SEC 1000000L
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define MSEC_PER_SEC 1000L
#define USEC_PER_JIFFY (USEC_PER_SEC / HZ)
#define jiffies ((unsigned long)(dumbbell_now_ns / NSEC_PER_MSEC))
#define tcp_jiffies32 ((u32)jiffies)
#define time_before(a, b) ((long)((a) - (b)) < 0)
#define time_after(a, b) time_before(b, a)
#define time_before32(a, b) before(a, b)
#define time_after32(a, b) after(a, b)

extern _Thread_local u64 dumbbell_now_ns;

u32 dumbbell_random(void);

static inline u64 ktime_get_ns(void) { return dumbbell_now_ns; }
static inline ktime_t ktime_get(void) { return (ktime_t)dumbbell_now_ns; }
static inline s64 ktime_to_us(ktime_t at) { return at / NSEC_PER_USEC; }
static inline u64 tcp_clock_ns(void) { return dumbbell_now_ns; }
static inline u64 tcp_clock_us(void) { return dumbbell_now_ns / NSEC_PER_USEC; }
static inline unsigned long usecs_to_jiffies(u32 us) { return DIV_ROUND_UP((u64)us, USEC_PER_JIFFY); }
static inline unsigned long msecs_to_jiffies(u32 ms) { return ms; }
static inline u32 jiffies_to_usecs(unsigned long of) { return (u32)(of * USEC_PER_JIFFY); }
static inline u32 jiffies_to_msecs(unsigned long of) { return (u32)of; }
static inline u32 get_random_u32(void) { return dumbbell_random(); }
static inline u32 get_random_u32_below(u32 limit) { return (u32)(((u64)dumbbell_random() * limit) >> 32); }
#define prandom_u32 get_random_u32
#define prandom_u32_max get_random_u32_below

/* ---- The largest and smallest value of a while: the three best of it are kept (Linux v6.12, lib/win_minmax.c) --- */

struct minmax_sample {
    u32 t, v;
};

struct minmax {
    struct minmax_sample s[3];
};

static inline u32 minmax_get(const struct minmax *m) { return m->s[0].v; }

static inline u32 minmax_reset(struct minmax *m, u32 t, u32 v)
{
    for (int i = 0; i < 3; i++)
        m->s[i] = (struct minmax_sample){t, v};
    return v;
}

u32 minmax_running_max(struct minmax *m, u32 win, u32 t, u32 v);
u32 minmax_running_min(struct minmax *m, u32 win, u32 t, u32 v);

/* ---- A module and its parameters ------------------------------------------------------------------------------- */

/* One variable of module_param, or one MODULE_PARM_DESC. */
struct dumbbell_module_parameter {
    const char *name;
    void *place;      /* NULL: `text` describes it */
    const char *text; /* its type, or what it is */
};

#define DUMBBELL_PARAMETER(id, ...)                                                                                   \
    static const struct dumbbell_module_parameter id                                                                  \
        __attribute__((section("dumbbell_parameters"), used, aligned(sizeof(void *)))) = {__VA_ARGS__}
#define module_param(name, type, mode) DUMBBELL_PARAMETER(dumbbell_of_##name, #name, &name, #type)
#define module_param_named(as, name, type, mode) DUMBBELL_PARAMETER(dumbbell_of_##as, #as, &name, #type)
#define MODULE_PARM_DESC(name, text) DUMBBELL_PARAMETER(dumbbell_says_##name, #name, NULL, text)
#define module_param_cb(name, operations, place, mode) struct dumbbell_nothing

#define THIS_MODULE NULL
#define MODULE_AUTHOR(x) struct dumbbell_nothing
#define MODULE_LICENSE(x) struct dumbbell_nothing
#define MODULE_DESCRIPTION(x) struct dumbbell_nothing
#define MODULE_VERSION(x) struct dumbbell_nothing
#define MODULE_ALIAS(x) struct dumbbell_nothing
#define EXPORT_SYMBOL(x) struct dumbbell_nothing
#define EXPORT_SYMBOL_GPL(x) struct dumbbell_nothing
#ifdef DUMBBELL_COMPANION /* a file whose functions another one uses: it registers nothing */
#define module_init(f) static int (*const dumbbell_init)(void) __maybe_unused = f
#else
#define module_init(f) int dumbbell_module_init(void) { return f(); }
#endif
#define module_exit(f) static void (*const dumbbell_exit)(void) __maybe_unused = f

int dumbbell_module_init(void);

struct module;
struct kernel_param;
struct kernel_param_ops {
    int (*set)(const char *value, const struct kernel_param *of);
    int (*get)(char *buffer, const struct kernel_param *of);
};
static inline int param_set_uint_minmax(const char *v, const struct kernel_param *p, uint a, uint b) { return 0; }
static inline int param_get_uint(char *buffer, const struct kernel_param *of) { return 0; }

/* BPF's view of the file, which nobody has here. */
struct btf_id_set8 {
    int none;
};
struct btf_kfunc_id_set {
    struct module *owner;
    struct btf_id_set8 *set;
};
#define BTF_KFUNCS_START(name) static struct btf_id_set8 name __maybe_unused;
#define BTF_KFUNCS_END(name)
#define BTF_SET8_START(name) static struct btf_id_set8 name __maybe_unused;
#define BTF_SET8_END(name)
#define BTF_SET_START(name) static struct btf_id_set8 name __maybe_unused;
#define BTF_SET_END(name)
#define BTF_ID(...)
#define BTF_ID_FLAGS(...)
#define BPF_PROG_TYPE_STRUCT_OPS 0
#define register_btf_kfunc_id_set(type, set) ((void)(set), 0)

#define pr_debug(...) ((void)0)
#define pr_info(...) ((void)0)
#define pr_warn(...) ((void)0)
#define pr_err(...) ((void)0)
#define printk(...) ((void)0)
#define NET_INC_STATS(...) ((void)0)
#define NET_ADD_STATS(...) ((void)0)
#define __NET_INC_STATS(...) ((void)0)

/* ---- The socket ------------------------------------------------------------------------------------------------ */

enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
enum { TCP_ESTABLISHED = 1, TCP_CLOSE = 7, TCP_LISTEN = 10 };
enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)
enum tcp_ca_event {
    CA_EVENT_TX_START,
    CA_EVENT_CWND_RESTART,
    CA_EVENT_COMPLETE_CWR,
    CA_EVENT_LOSS,
    CA_EVENT_ECN_NO_CE,
    CA_EVENT_ECN_IS_CE,
    CA_EVENT_TLP_RECOVERY, /* BBRv3: never told here */
};
enum tcp_ca_ack_event_flags { CA_ACK_SLOWPATH = 1, CA_ACK_WIN_UPDATE = 2, CA_ACK_ECE = 4 };
enum { TCP_CONG_NON_RESTRICTED = 1, TCP_CONG_NEEDS_ECN = 2, TCP_CONG_WANTS_CE_EVENTS = 4 };
enum { TCP_ECN_OK = 1, TCP_ECN_QUEUE_CWR = 2, TCP_ECN_DEMAND_CWR = 4, TCP_ECN_SEEN = 8 };
enum { TCP_ECN_LOW = 16, TCP_ECN_ECT_PERMANENT = 32 }; /* BBRv3: a route with ECN of low latency, which none here is */
enum { TCPCB_SACKED_ACKED = 1, TCPCB_SACKED_RETRANS = 2, TCPCB_LOST = 4 };
enum { ICSK_ACK_SCHED = 1, ICSK_ACK_TIMER = 2, ICSK_ACK_PUSHED = 4, ICSK_ACK_NOW = 16 };

#define TCP_CA_NAME_MAX 16
#define ICSK_CA_PRIV_SIZE 160 /* Linux v6.12 has 104; BBRv3 has more */
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCP_MIN_MSS 88U
#define MAX_TCP_HEADER 320
#define GSO_MAX_SIZE 65536U
#define GSO_LEGACY_MAX_SIZE 65536U

struct sock;
union tcp_cc_info;

struct net {
    struct {
        int sysctl_tcp_min_tso_segs;
        u8 sysctl_tcp_plb_enabled;
    } ipv4;
};

/* What is remembered of a packet since it was sent; counts are the connection's then, in packets. */
struct tcp_skb_cb {
    u32 seq, end_seq;
    u8 sacked;
    struct {
        u32 in_flight; /* this packet included */
        u32 delivered, delivered_ce, lost;
        bool is_app_limited;
        u64 first_tx_mstamp, delivered_mstamp; /* us; 0: it has arrived */
    } tx;
};

/* A packet, of one segment always. */
struct sk_buff {
    struct tcp_skb_cb cb;
    u32 len;
};

#define TCP_SKB_CB(skb) (&((struct sk_buff *)(skb))->cb)
static inline int tcp_skb_pcount(const struct sk_buff *skb) { return 1; }
static inline bool tcp_skb_tx_in_flight_is_suspicious(u32 pcount, u32 sacked, u32 in_flight)
{
    return pcount > in_flight && (sacked & TCPCB_LOST) == 0;
}

struct ack_sample {
    u32 pkts_acked; /* packets that the cumulative acknowledgement newly covers */
    s32 rtt_us;     /* of the newest packet; -1: none */
    u32 in_flight;  /* when that was sent */
};

struct rate_sample {
    u64 prior_mstamp;
    u32 prior_delivered;
    u32 prior_delivered_ce;
    u32 prior_lost;
    u32 tx_in_flight; /* just after the newest packet was sent */
    s32 lost;         /* since then */
    s32 delivered; /* packets over the interval; -1: no sample */
    s32 delivered_ce;
    long interval_us;
    u32 snd_interval_us;
    u32 rcv_interval_us;
    long rtt_us;      /* of the newest packet; -1: none */
    int losses;       /* packets lost by this ACK */
    u32 acked_sacked; /* packets newly acknowledged */
    u32 prior_in_flight;
    u32 last_end_seq;
    bool is_app_limited;
    bool is_retrans;
    bool is_ack_delayed;
    bool is_acking_tlp_retrans_seq;
    bool is_ece; /* something that this ACK lists arrived marked */
};

struct tcp_congestion_ops {
    u32 (*ssthresh)(struct sock *sk);
    void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
    void (*set_state)(struct sock *sk, u8 new_state);
    void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
    void (*in_ack_event)(struct sock *sk, u32 flags);
    void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
    u32 (*min_tso_segs)(struct sock *sk);
    u32 (*tso_segs_goal)(struct sock *sk);
    u32 (*tso_segs)(struct sock *sk, unsigned int mss_now);                /* BBRv3 */
    void (*skb_marked_lost)(struct sock *sk, const struct sk_buff *skb); /* BBRv3: for each lost packet */
#if DUMBBELL_CONG_CONTROL == 2 /* before Linux v6.10 */
    void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
#else
    void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
#endif
    u32 (*undo_cwnd)(struct sock *sk);
    u32 (*sndbuf_expand)(struct sock *sk);
    size_t (*get_info)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info);
    char name[TCP_CA_NAME_MAX];
    struct module *owner;
    u32 key, flags;
    void (*init)(struct sock *sk);
    void (*release)(struct sock *sk);
};

struct sock {
    unsigned long sk_pacing_rate, sk_max_pacing_rate; /* bytes per second; ~0: none */
    u32 sk_pacing_status;
    u32 sk_gso_max_size;
    int sk_sndbuf;
    u16 sk_gso_max_segs;
    u8 sk_pacing_shift, sk_state;
};

struct inet_connection_sock {
    struct sock sk; /* first: the casts between these give each other back */
    const struct tcp_congestion_ops *icsk_ca_ops;
    u32 icsk_rto; /* jiffies */
    u8 icsk_ca_state, icsk_retransmits;
    struct {
        u8 pending;
    } icsk_ack;
    u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
};

struct tcp_sock {
    struct inet_connection_sock inet_conn;
    u32 snd_una, snd_nxt, write_seq, high_seq, rcv_nxt; /* bytes */
    u32 snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_cwnd_used, snd_cwnd_stamp;
    u32 snd_ssthresh, prior_ssthresh, prior_cwnd, undo_marker;
    u32 mss_cache;
    u32 srtt_us, mdev_us, rttvar_us; /* us, times 8, 4 and 4 */
    u32 packets_out, sacked_out, lost_out, retrans_out; /* packets_out: in flight; the others are in it */
    u32 max_packets_out;
    u32 delivered, delivered_ce, lost, total_retrans; /* in all */
    u32 lsndtime;    /* jiffies when data was sent last */
    u32 app_limited; /* until so many are delivered; 0: not */
    u32 reordering;
    u64 bytes_acked, bytes_sent;
    u64 tcp_mstamp, delivered_mstamp, first_tx_mstamp; /* us */
    u64 tcp_clock_cache, tcp_wstamp_ns;                /* ns; wstamp: earliest departure of the next packet */
    struct minmax rtt_min;
    u8 ecn_flags;
    bool is_cwnd_limited;
    bool is_sack_reneg, tlp_orig_data_app_limited; /* BBRv3: false always */
    u8 fast_ack_mode;                              /* BBRv3: of the receiver, unused */
};

/* The settings of Linux as they are after booting. */
static inline struct net *sock_net(const struct sock *sk)
{
    static struct net net = {.ipv4 = {.sysctl_tcp_min_tso_segs = 2, .sysctl_tcp_plb_enabled = 0}};

    return &net;
}

static inline struct tcp_sock *tcp_sk(const struct sock *sk) { return (struct tcp_sock *)sk; }
static inline struct inet_connection_sock *inet_csk(const struct sock *sk) { return (struct inet_connection_sock *)sk; }
static inline void *inet_csk_ca(const struct sock *sk) { return inet_csk(sk)->icsk_ca_priv; }
static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp) { return tp->snd_cwnd; }
static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 cwnd) { tp->snd_cwnd = cwnd; }
static inline bool tcp_in_slow_start(const struct tcp_sock *tp) { return tp->snd_cwnd < tp->snd_ssthresh; }
static inline bool tcp_in_initial_slowstart(const struct tcp_sock *tp) { return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH; }
static inline u32 tcp_left_out(const struct tcp_sock *tp) { return tp->sacked_out + tp->lost_out; }
static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp) { return tp->packets_out; }
static inline u32 tcp_min_rtt(const struct tcp_sock *tp) { return minmax_get(&tp->rtt_min); }
static inline u32 tcp_stamp_us_delta(u64 later, u64 sooner) { return max_t(s64, later - sooner, 0); }
static inline u32 tcp_rto_min(const struct sock *sk) { return HZ / 5; }

static inline bool tcp_in_cwnd_reduction(const struct sock *sk)
{
    return (1 << inet_csk(sk)->icsk_ca_state) & (TCPF_CA_CWR | TCPF_CA_Recovery);
}

/* As it is, or three quarters of the window if that is more: outside of an episode a window that shrank may come back. */
static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
    const struct tcp_sock *tp = tcp_sk(sk);

    return tcp_in_cwnd_reduction(sk) ? tp->snd_ssthresh : max(tp->snd_ssthresh, tp->snd_cwnd / 2 + tp->snd_cwnd / 4);
}

/* Whether the window limited what was sent. */
static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
    const struct tcp_sock *tp = tcp_sk(sk);

    return tp->is_cwnd_limited || (tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out);
}

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked);
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
u32 tcp_reno_ssthresh(struct sock *sk);
u32 tcp_reno_undo_cwnd(struct sock *sk);
int tcp_register_congestion_control(struct tcp_congestion_ops *ops);
static inline void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops) { }

/* What the other end does is the transport's. */
static inline void INET_ECN_dontxmit(struct sock *sk) { }
static inline void INET_ECN_xmit(struct sock *sk) { }
static inline void __tcp_send_ack(struct sock *sk, u32 rcv_nxt, u16 flags) { }

/* Protective load balancing, off as by default. */
struct tcp_plb_state {
    u8 consec_cong_rounds;
    u32 pause_until;
};
#define TCP_PLB_SCALE 8
static inline void tcp_plb_init(const struct sock *sk, struct tcp_plb_state *plb) { }
static inline void tcp_plb_update_state(const struct sock *sk, struct tcp_plb_state *plb, int ratio) { }
static inline void tcp_plb_check_rehash(struct sock *sk, struct tcp_plb_state *plb) { }
static inline void tcp_plb_update_state_upon_rto(struct sock *sk, struct tcp_plb_state *plb) { }

/* What `ss -i` would show, which nobody asks for here. */
enum { INET_DIAG_VEGASINFO = 3, INET_DIAG_DCTCPINFO = 9, INET_DIAG_BBRINFO = 16 };
struct tcpvegas_info {
    u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
};
struct tcp_dctcp_info {
    u16 dctcp_enabled, dctcp_ce_state;
    u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};
struct tcp_bbr_info {
    u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
    /* BBRv3 */
    u32 bbr_bw_hi_lsb, bbr_bw_hi_msb, bbr_bw_lo_lsb, bbr_bw_lo_msb;
    u8 bbr_mode, bbr_phase, unused1, bbr_version;
    u32 bbr_inflight_lo, bbr_inflight_hi, bbr_extra_acked;
};
enum tcp_bbr_phase {
    BBR_PHASE_INVALID,
    BBR_PHASE_STARTUP,
    BBR_PHASE_DRAIN,
    BBR_PHASE_PROBE_RTT,
    BBR_PHASE_PROBE_BW_UP,
    BBR_PHASE_PROBE_BW_DOWN,
    BBR_PHASE_PROBE_BW_CRUISE,
    BBR_PHASE_PROBE_BW_REFILL,
};
union tcp_cc_info {
    struct tcpvegas_info vegas;
    struct tcp_dctcp_info dctcp;
    struct tcp_bbr_info bbr;
};

#endif
