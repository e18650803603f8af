/*
 * Additive increase, multiplicative decrease: TCP Reno (RFC 5681), which is what dumbbell's own `reno` does, in C.
 *
 *     cc -O2 -shared -fPIC -I "$(dumbbell plugin include)" aimd.c -o libaimd.so -lm
 *     dumbbell run --plugin ./libaimd.so --path default
 */
#include "dumbbell.h"

#include <math.h>
#include <stdlib.h>

#define SMALLEST 2.0 /* packets after a reduction (RFC 5681 equation 4) */

struct aimd {
    double window;   /* packets */
    double ssthresh; /* packets */
    double mss;      /* bytes */
    double beta;
    double window_before, ssthresh_before; /* the last reduction on loss, to undo it; 0: none */
};

static void *create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal)
{
    (void)self;
    struct aimd *aimd = calloc(1, sizeof *aimd);
    if (aimd == NULL) {
        *refusal = "there is no memory";
        return NULL;
    }
    aimd->mss = start->mss_bytes;
    aimd->window = (double)start->initial_window_bytes / aimd->mss;
    aimd->ssthresh = INFINITY;
    aimd->beta = values[0].number;
    return aimd;
}

static void reduce(struct aimd *aimd)
{
    aimd->ssthresh = fmax(aimd->window * aimd->beta, SMALLEST);
    aimd->window = aimd->ssthresh;
}

static void on_ack(void *state, const struct dumbbell_ack *ack)
{
    struct aimd *aimd = state;
    const bool in_slow_start = aimd->window < aimd->ssthresh;
    if (ack->in_recovery || !dumbbell_may_grow(ack, floor(aimd->window * aimd->mss), in_slow_start))
        return;
    double acked = (double)ack->growth_bytes / aimd->mss;
    if (in_slow_start) {
        const double grown = fmin(aimd->window + acked, aimd->ssthresh);
        acked -= grown - aimd->window;
        aimd->window = grown;
    }
    aimd->window += acked / aimd->window; /* what is left after slow start: one packet per round trip */
}

static void on_loss(void *state, const struct dumbbell_loss *loss)
{
    struct aimd *aimd = state;
    if (loss->new_episode) {
        aimd->window_before = aimd->window;
        aimd->ssthresh_before = aimd->ssthresh;
        reduce(aimd);
    }
}

static void on_spurious_loss(void *state, uint64_t now_ns)
{
    struct aimd *aimd = state;
    (void)now_ns;
    aimd->window = fmax(aimd->window, aimd->window_before);
    aimd->ssthresh = fmax(aimd->ssthresh, aimd->ssthresh_before);
    aimd->window_before = aimd->ssthresh_before = 0.0;
}

static void on_timeout(void *state, const struct dumbbell_timeout *timeout)
{
    struct aimd *aimd = state;
    if (!timeout->repeated)
        reduce(aimd);
    aimd->window_before = aimd->ssthresh_before = 0.0;
    aimd->window = 1.0;
}

static void on_ecn(void *state, const struct dumbbell_ecn *ecn)
{
    struct aimd *aimd = state;
    if (ecn->new_episode) {
        aimd->window_before = aimd->ssthresh_before = 0.0;
        reduce(aimd);
    }
}

static void control(const void *state, struct dumbbell_control *control)
{
    const struct aimd *aimd = state;
    control->window_bytes = floor(aimd->window * aimd->mss);
}

static void fields(const void *state, double *values)
{
    const struct aimd *aimd = state;
    values[0] = aimd->window;
    values[1] = isinf(aimd->ssthresh) ? NAN : aimd->ssthresh;
}

static const struct dumbbell_parameter parameters[] = {
    {.name = "beta",
     .help = "Factor of the window kept on loss.",
     .kind = DUMBBELL_NUMBER,
     .preset = 0.5,
     .least = 0.1,
     .most = 0.95},
};

static const struct dumbbell_field field_list[] = {{"cwnd", "packets"}, {"ssthresh", "packets"}};

static const struct dumbbell_controller aimd = {
    .name = "aimd",
    .summary = "Additive increase, multiplicative decrease: TCP Reno (RFC 5681) in C",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof parameters[0],
    .field_list = field_list,
    .field_count = sizeof field_list / sizeof field_list[0],
    .create = create,
    .destroy = free,
    .on_ack = on_ack,
    .on_loss = on_loss,
    .on_spurious_loss = on_spurious_loss,
    .on_timeout = on_timeout,
    .on_ecn = on_ecn,
    .control = control,
    .fields = fields,
};

DUMBBELL_PLUGIN(&aimd)
