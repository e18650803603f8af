/* A plug-in with one thing wrong, which the macro WRONG chooses. */
#include "dumbbell.h"

static void *create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal)
{
    (void)self, (void)start, (void)values;
    *refusal = "there is no table";
    return NULL;
}

static void destroy(void *state)
{
    (void)state;
}

static void on_ack(void *state, const struct dumbbell_ack *ack)
{
    (void)state, (void)ack;
}

static void control(const void *state, struct dumbbell_control *control)
{
    (void)state;
    control->window_bytes = 1e4;
}

static void fields(const void *state, double *values)
{
    (void)state;
    values[0] = 0.0;
}

static const char *const names[] = {"one", "two", NULL};

static const struct dumbbell_parameter parameters[] = {
    {"number", "s", "A number.", DUMBBELL_NUMBER, WRONG == 1 ? 7.0 : 0.5, 0.0, 1.0, NULL},
    {WRONG == 2 ? "number" : "integer", NULL, "A whole number.", DUMBBELL_INTEGER, WRONG == 3 ? 1.5 : 2.0, -3.0, 9.0, NULL},
    {"flag", NULL, NULL, DUMBBELL_FLAG, WRONG == 4 ? 2.0 : 1.0, 0.0, 0.0, NULL},
    {"choice", NULL, "One of two.", DUMBBELL_CHOICE, WRONG == 5 ? 2.0 : 1.0, 0.0, 0.0, WRONG == 6 ? NULL : names},
    {"file", NULL, "A table.", WRONG == 7 ? 17u : DUMBBELL_FILE, 0.0, 0.0, 0.0, NULL},
    {WRONG == 8 ? NULL : WRONG == 9 ? "a b" : "last", NULL, NULL, DUMBBELL_FLAG, 0.0, 0.0, 0.0, NULL},
};

static const struct dumbbell_field field_list[] = {{WRONG == 10 ? "srtt" : WRONG == 11 ? "a b" : "level", "packets"}};

static const struct dumbbell_controller mine = {
    .name = WRONG == 12 ? "a/b" : "mine",
    .summary = WRONG == 13 ? "\xff" : "A test.",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof parameters[0],
    .field_list = field_list,
    .field_count = WRONG == 14 ? 1000 : 1,
    .create = create,
    .destroy = destroy,
    .on_ack = WRONG == 15 ? NULL : on_ack,
    .control = control,
    .fields = fields,
};

#if WRONG == 16
DUMBBELL_PLUGIN(&mine, &mine)
#elif WRONG == 17
const struct dumbbell_plugin *dumbbell_plugin(void)
{
    static struct dumbbell_plugin plugin;
    plugin.interface_version = 2;
    return &plugin;
}
#elif WRONG == 18
const struct dumbbell_plugin *dumbbell_plugin(void)
{
    static struct dumbbell_plugin plugin;
    plugin.interface_version = 1;
    plugin.plugin_size = sizeof plugin;
    plugin.controller_size = 24;
    return &plugin;
}
#elif WRONG == 19
const struct dumbbell_plugin *dumbbell_plugin(void)
{
    return NULL;
}
#elif WRONG == 21 || WRONG == 22
/* 21 is nothing: what the macro made of the first dumbbell.h of this version. 22: of one that is to come. */
static const struct dumbbell_plugin *first(void)
{
    DUMBBELL_DECLARE(&mine)
}
const struct dumbbell_plugin *dumbbell_plugin(void)
{
    static struct dumbbell_plugin plugin;
    plugin = *first();
    plugin.controller_size = offsetof(struct dumbbell_controller, on_recovered);
    plugin.control_size = offsetof(struct dumbbell_control, max_frame_wait_ns);
    plugin.ack_size = WRONG == 22 ? 1000 : offsetof(struct dumbbell_ack, complete_bytes);
    plugin.ecn_size = offsetof(struct dumbbell_ecn, newest_sent_at_ns);
    plugin.sent_size = offsetof(struct dumbbell_sent, frame);
    return &plugin;
}
#elif WRONG != 20
DUMBBELL_PLUGIN(&mine)
#endif
