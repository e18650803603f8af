/*
 * CUBIC (RFC 9438) as a QUIC stack has it (RFC 9002 appendix B), with a pacer and ECN, and twelve slips of it.
 *
 * The parameter `slip` chooses one; 0 is the stack as it should be, 13 the same by other instructions (a refactoring).
 */
#include "dumbbell.h"

#include <math.h>
#include <stdlib.h>

enum slip {
    NONE,
    GROWS_UNUSED,      /* the window grows while the application limits the flow */
    COLLAPSES_IDLE,    /* two packets after a pause */
    QUADRUPLES_IDLE,   /* four times the window after a pause */
    IGNORES_ECN,
    WEAK_ECN,          /* 0.9 of the window after a mark */
    BURST_64,          /* the pacer lets 64 packets leave together */
    KEEPS_PERSISTENT,  /* the window stays at persistent congestion */
    ONE_PACKET,        /* the smallest window is one packet */
    UNPACED,
    NO_FAST_CONVERGENCE,
    BETA_75,           /* 0.75 of the window after a loss */
    MORE_CPU,          /* a fifth more work for each ACK */
    REFACTORED,
    SLIPS,
};

#define C 0.4 /* packets / s^3 */
#define PAUSE_NS 1000000000ull
#define BURST_PACKETS 10

struct stack {
    enum slip slip;
    double mss, window, ssthresh, w_max, w_est; /* bytes */
    double epoch_s, epoch_window;               /* when congestion avoidance began, NAN: not yet, and the window then */
    double srtt_s;
    uint64_t recovery_began_ns;
    uint64_t last_sent_ns;
    volatile double waste;
};

static double smallest(const struct stack *stack)
{
    return (stack->slip == ONE_PACKET ? 1.0 : 2.0) * stack->mss;
}

static double beta(const struct stack *stack)
{
    return stack->slip == BETA_75 ? 0.75 : 0.7;
}

static void *create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal)
{
    (void)self;
    struct stack *stack = calloc(1, sizeof *stack);
    if (stack == NULL) {
        *refusal = "there is no memory";
        return NULL;
    }
    stack->slip = (enum slip)values[0].number;
    stack->mss = start->mss_bytes;
    stack->window = (double)start->initial_window_bytes;
    stack->ssthresh = INFINITY;
    stack->epoch_s = NAN;
    return stack;
}

static void reduce(struct stack *stack, uint64_t now_ns, uint64_t sent_ns, double kept)
{
    if (stack->recovery_began_ns != 0 && sent_ns <= stack->recovery_began_ns)
        return;
    stack->recovery_began_ns = now_ns;
    const bool converges = stack->window < stack->w_max && stack->slip != NO_FAST_CONVERGENCE;
    stack->w_max = converges ? stack->window * (1.0 + beta(stack)) / 2.0 : stack->window;
    stack->window = fmax(stack->window * kept, smallest(stack));
    stack->ssthresh = stack->window;
    stack->epoch_s = NAN;
}

static void grow(struct stack *stack, double now_s, double bytes)
{
    if (stack->window < stack->ssthresh) {
        stack->window += bytes;
        return;
    }
    if (isnan(stack->epoch_s)) {
        stack->epoch_s = now_s;
        stack->epoch_window = stack->w_est = stack->window;
    }
    const double w_max = fmax(stack->w_max, stack->epoch_window);
    const double k = cbrt((w_max - stack->epoch_window) / stack->mss / C);
    const double t = now_s + stack->srtt_s - stack->epoch_s - k;
    const double cubic = (C * t * t * t + w_max / stack->mss) * stack->mss;
    const double target = fmin(fmax(cubic, stack->window), 1.5 * stack->window);
    const double alpha = stack->w_est < stack->w_max ? 3.0 * (1.0 - beta(stack)) / (1.0 + beta(stack)) : 1.0;
    stack->w_est += alpha * stack->mss * bytes / stack->window;
    if (stack->slip == REFACTORED)
        stack->window += bytes * (target - stack->window) / stack->window;
    else
        stack->window += (target - stack->window) / stack->window * bytes;
    stack->window = fmax(stack->window, stack->w_est);
}

static void on_ack(void *state, const struct dumbbell_ack *ack)
{
    struct stack *stack = state;
    stack->srtt_s = (double)ack->srtt_ns / 1e9;
    const bool in_slow_start = stack->window < stack->ssthresh;
    const bool may_grow = dumbbell_may_grow(ack, stack->window, in_slow_start) || stack->slip == GROWS_UNUSED;
    for (size_t place = 0; may_grow && place < ack->packet_count; place++) {
        const struct dumbbell_packet *packet = &ack->packets[place];
        if (stack->recovery_began_ns == 0 || packet->sent_at_ns > stack->recovery_began_ns)
            grow(stack, (double)ack->now_ns / 1e9, packet->bytes);
    }
    stack->window = fmin(stack->window, 2147483648.0);
    if (stack->slip == MORE_CPU)
        for (int step = 0; step < 1; step++)
            stack->waste = cbrt(stack->waste + stack->window + step);
}

static void on_loss(void *state, const struct dumbbell_loss *loss)
{
    struct stack *stack = state;
    reduce(stack, loss->now_ns, loss->packets[loss->packet_count - 1].sent_at_ns, beta(stack));
}

static void on_ecn(void *state, const struct dumbbell_ecn *ecn)
{
    struct stack *stack = state;
    if (stack->slip != IGNORES_ECN)
        reduce(stack, ecn->now_ns, ecn->newest_sent_at_ns, stack->slip == WEAK_ECN ? 0.9 : beta(stack));
}

static void on_timeout(void *state, const struct dumbbell_timeout *timeout)
{
    struct stack *stack = state;
    (void)timeout;
    if (stack->slip == KEEPS_PERSISTENT)
        return;
    stack->window = smallest(stack);
    stack->recovery_began_ns = 0;
    stack->epoch_s = NAN;
}

static void on_sent(void *state, const struct dumbbell_sent *sent)
{
    struct stack *stack = state;
    if (stack->last_sent_ns != 0 && sent->now_ns - stack->last_sent_ns > PAUSE_NS) {
        if (stack->slip == COLLAPSES_IDLE)
            stack->window = smallest(stack);
        if (stack->slip == QUADRUPLES_IDLE)
            stack->window *= 4.0;
        stack->epoch_s = NAN;
    }
    stack->last_sent_ns = sent->now_ns;
}

static void control(const void *state, struct dumbbell_control *control)
{
    const struct stack *stack = state;
    control->window_bytes = floor(stack->window);
    if (stack->slip == UNPACED) {
        control->pacing_bps = 1e12; /* unlimited, the transport would pace by the window */
    } else if (stack->srtt_s > 0.0) {
        control->pacing_bps = fmax(1.25 * 8.0 * stack->window / stack->srtt_s, 1.0);
        control->burst_bytes = (uint64_t)((stack->slip == BURST_64 ? 64 : BURST_PACKETS) * stack->mss);
    }
}

static void fields(const void *state, double *values)
{
    const struct stack *stack = state;
    values[0] = stack->window / stack->mss;
    values[1] = isinf(stack->ssthresh) ? NAN : stack->ssthresh / stack->mss;
}

static const struct dumbbell_parameter parameters[] = {
    {.name = "slip", .help = "The slip; 0: none.", .kind = DUMBBELL_INTEGER, .preset = 0, .least = 0, .most = SLIPS - 1},
};

static const struct dumbbell_field field_list[] = {{"cwnd", "packets"}, {"ssthresh", "packets"}};

static const struct dumbbell_controller stack = {
    .name = "stack",
    .summary = "CUBIC (RFC 9438) as a QUIC stack has it",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof parameters[0],
    .field_list = field_list,
    .field_count = sizeof field_list / sizeof field_list[0],
    .create = create,
    .destroy = free,
    .on_ack = on_ack,
    .on_loss = on_loss,
    .on_ecn = on_ecn,
    .on_timeout = on_timeout,
    .on_sent = on_sent,
    .control = control,
    .fields = fields,
};

DUMBBELL_PLUGIN(&stack)
