/* A controller that works for a second and then does what its parameter `mode` says. */
#include "dumbbell.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FINE, CRASH, ABORT, HANG, EXIT, ZERO, NEGATIVE, NOT_A_NUMBER, HUGE_WINDOW, UNLIMITED, UNSET, NO_PACING, PAST, GIVE_UP,
       CRASH_IN_FIELDS, SUM };

struct bad {
    int mode;
    uint64_t now_ns;
    double sum; /* of the bytes of the file */
};

static void *create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal)
{
    (void)self, (void)start;
    struct bad *bad = calloc(1, sizeof *bad);
    bad->mode = (int)values[0].number;
    if (bad->mode == SUM && values[1].text == NULL) {
        free(bad);
        *refusal = "no table was named";
        return NULL;
    }
    for (size_t i = 0; i < values[1].length; i++)
        bad->sum += values[1].contents[i];
    return bad;
}

static bool is_time(const struct bad *bad, int mode)
{
    return bad->mode == mode && bad->now_ns > 1000000000u;
}

static void on_ack(void *state, const struct dumbbell_ack *ack)
{
    struct bad *bad = state;
    bad->now_ns = ack->now_ns;
    if (is_time(bad, CRASH))
        *(volatile int *)NULL = 1;
    if (is_time(bad, ABORT))
        abort();
    if (is_time(bad, EXIT))
        exit(3);
    if (is_time(bad, HANG))
        for (;;)
            pause(); /* the class in bad.py is busy meanwhile */
}

static void control(const void *state, struct dumbbell_control *control)
{
    const struct bad *bad = state;
    control->window_bytes = bad->mode == SUM ? bad->sum * 1000.0 : 20000.0;
    if (is_time(bad, ZERO))
        control->window_bytes = 0.0;
    if (is_time(bad, NEGATIVE))
        control->window_bytes = -1448.0;
    if (is_time(bad, NOT_A_NUMBER) || is_time(bad, UNSET))
        control->window_bytes = NAN;
    if (is_time(bad, HUGE_WINDOW))
        control->window_bytes = 1e300;
    if (is_time(bad, UNLIMITED))
        control->window_bytes = DUMBBELL_UNLIMITED;
    if (is_time(bad, NO_PACING))
        control->pacing_bps = 0.0;
    if (is_time(bad, PAST))
        control->wake_at_ns = bad->now_ns - 1;
    if (is_time(bad, GIVE_UP))
        control->failure = "I have seen\nenough";
}

static void fields(const void *state, double *values)
{
    const struct bad *bad = state;
    if (is_time(bad, CRASH_IN_FIELDS))
        *(volatile int *)NULL = 1;
    values[0] = bad->sum;
}

static const char *const modes[] = {"fine", "crash", "abort", "hang", "exit", "zero", "negative", "nan", "huge", "unlimited",
                                    "unset", "pacing", "past", "give_up", "crash_in_fields", "sum", NULL};

static const struct dumbbell_parameter parameters[] = {
    {.name = "mode", .help = "What goes wrong.", .kind = DUMBBELL_CHOICE, .preset = FINE, .choices = modes},
    {.name = "table", .help = "A file.", .kind = DUMBBELL_FILE},
};

static const struct dumbbell_field field_list[] = {{"sum", NULL}};

static const struct dumbbell_controller bad = {
    .name = "bad",
    .summary = "A controller that does something wrong",
    .parameters = parameters,
    .parameter_count = 2,
    .field_list = field_list,
    .field_count = 1,
    .create = create,
    .destroy = free,
    .on_ack = on_ack,
    .control = control,
    .fields = fields,
};

DUMBBELL_PLUGIN(&bad)
