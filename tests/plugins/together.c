/* A controller with a window of its own that takes losses with the ACK that revealed them, or before it, as its parameter
 * says, and limits the sender between 2 and 3 s. What it is told otherwise than the header says ends the process. */
#include "dumbbell.h"

#include <stdlib.h>

#define MUST(x)               \
    do {                      \
        if (!(x))             \
            __builtin_trap(); \
    } while (0)

struct together {
    uint64_t now_ns, owed, highest; /* packets that on_loss told of, of an ACK that has not come; the newest acknowledged */
    double mss, by_timer, by_ack, episodes, limited, window;
    uint64_t limited_until_bytes;
};

static void *create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal)
{
    (void)self, (void)values, (void)refusal;
    struct together *state = calloc(1, sizeof *state);
    state->mss = start->mss_bytes;
    state->window = 60;
    return state;
}

static bool is_limited(const struct together *state)
{
    return state->now_ns >= 2000000000u && state->now_ns < 3000000000u;
}

static void take(struct together *state, const struct dumbbell_packet *lost, size_t count, bool new_episode)
{
    for (size_t i = 0; i < count; i++)
        MUST(lost[i].bytes > 0 && (i == 0 || lost[i].number > lost[i - 1].number));
    state->episodes += new_episode;
    if (new_episode)
        state->window = state->window > 45 ? state->window - 1 : state->window;
}

static void on_loss(void *opaque, const struct dumbbell_loss *loss)
{
    struct together *state = opaque;

    MUST(state->owed == 0);
    state->now_ns = loss->now_ns;
    if (loss->by_ack) {
        state->by_ack += (double)loss->packet_count;
        state->owed = loss->packet_count;
    } else {
        state->by_timer += (double)loss->packet_count;
    }
    take(state, loss->packets, loss->packet_count, loss->new_episode);
}

/* The library whose losses come with ACKs. */
static void on_loss_by_timer(void *opaque, const struct dumbbell_loss *loss)
{
    MUST(!loss->by_ack);
    on_loss(opaque, loss);
}

static void on_ack(void *opaque, const struct dumbbell_ack *ack)
{
    struct together *state = opaque;
    const uint64_t sent_ns = dumbbell_ack_sent_at_ns(ack);

    MUST(state->owed == 0 || ack->now_ns == state->now_ns); /* at once */
    state->owed = 0;
    state->now_ns = ack->now_ns;
    if (ack->packet_count != 0) {
        const struct dumbbell_packet *newest = &ack->packets[ack->packet_count - 1];

        MUST(sent_ns >= newest->received_at_ns && sent_ns != DUMBBELL_NONE);
        if (newest->number > state->highest)
            state->highest = newest->number; /* the ACK first, */
    }
    for (size_t i = 0; i < ack->lost_count; i++)
        MUST(ack->lost[i].number < state->highest); /* then its losses: all below what was acknowledged */
    MUST(ack->lost_count != 0 || !ack->lost_new_episode);
    state->by_ack += (double)ack->lost_count;
    take(state, ack->lost, ack->lost_count, ack->lost_new_episode);
    state->limited += ack->rate_valid && ack->rate_app_limited;
    if (is_limited(state))
        state->limited_until_bytes = ack->delivered_bytes + ack->in_flight_bytes;
    if (ack->rate_valid && ack->rate_app_limited)
        MUST(state->limited_until_bytes != 0 &&
             ack->rate_prior_delivered_bytes <= state->limited_until_bytes + (uint64_t)(state->window * state->mss));
}

static void control(const void *opaque, struct dumbbell_control *control)
{
    const struct together *state = opaque;

    control->window_bytes = state->window * state->mss;
    control->app_limited = is_limited(state);
}

static void fields(const void *opaque, double *values)
{
    const struct together *state = opaque;

    values[0] = state->by_ack;
    values[1] = state->by_timer;
    values[2] = state->episodes;
    values[3] = state->limited;
}

static void destroy(void *state) { free(state); }

static const struct dumbbell_field field_list[] = {
    {"by_ack", "packets"}, {"by_timer", "packets"}, {"episodes", ""}, {"limited", "samples"}};

static const struct dumbbell_controller before = {
    .name = "before",
    .summary = "Losses before the ACK",
    .field_list = field_list,
    .field_count = 4,
    .create = create,
    .destroy = destroy,
    .on_ack = on_ack,
    .control = control,
    .fields = fields,
    .on_loss = on_loss,
};

static const struct dumbbell_controller together = {
    .name = "together",
    .summary = "Losses with the ACK",
    .field_list = field_list,
    .field_count = 4,
    .create = create,
    .destroy = destroy,
    .on_ack = on_ack,
    .control = control,
    .fields = fields,
    .on_loss = on_loss_by_timer,
    .losses_with_ack = true,
};

DUMBBELL_PLUGIN(&before, &together)
