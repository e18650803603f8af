// What tcp_plain.c uses of tcp_plain_more.c.
void plain_grow(struct sock *sk, u32 ack, u32 acked);
