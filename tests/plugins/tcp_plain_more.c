// A module whose functions another one uses: compiled with it, it registers nothing.
#include <linux/module.h>
#include <net/tcp.h>
#include "tcp_plain_more.h"

void plain_grow(struct sock *sk, u32 ack, u32 acked)
{
    tcp_reno_cong_avoid(sk, ack, acked);
}
EXPORT_SYMBOL_GPL(plain_grow);

static struct tcp_congestion_ops more = {
    .ssthresh = tcp_reno_ssthresh,
    .cong_avoid = tcp_reno_cong_avoid,
    .name = "more",
};

static int __init more_register(void)
{
    return tcp_register_congestion_control(&more);
}

module_init(more_register);
