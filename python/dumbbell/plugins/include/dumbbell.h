/*
 * A congestion controller for dumbbell, in C or C++: interface version 1.
 *
 *     cc -O2 -shared -fPIC -I DIRECTORY-OF-THIS-FILE mine.c -o libmine.so
 *     dumbbell run --plugin ./libmine.so
 *
 * A library declares its controllers with DUMBBELL_PLUGIN (at the end of this file). The transport reports what
 * happened (on_ack, on_loss, ...), and after every such report `control` is asked what is allowed from then on. Loss
 * detection, retransmission, rate samples and pacing are the transport's.
 *
 * WHAT IS COUNTED. Every count of bytes, every window and every rate is of payload: bytes of the application, without
 * the headers of IP and transport; what is sent again counts again. A full packet counts mss_bytes; a filler counts
 * filler_bytes. On the path each packet is longer by the transport's header_bytes (52 with TCP's profile): a link of
 * 12 Mbit/s carries 11.58 Mbit/s of payload in packets of 1448 bytes.
 *
 * WHO REDUCES THE WINDOW. The controller. The transport changes nothing of window_bytes at a loss, a mark or a
 * timeout: a controller that does not lower it at the first loss of an episode (new_episode) goes on with the old
 * window. The transport reads the window right after on_loss or on_ecn has begun an episode, and its setting
 * `recovery` says how that window is reached. `prr`, TCP's: the flight shrinks to it over a round trip (RFC 6937), and
 * until the episode ends this alone limits the flight; what the controller changes of its window meanwhile counts from
 * the end on. `immediate`, QUIC's and that of controllers with a window of their own during recovery (BBR):
 * window_bytes counts at every moment, and nothing leaves until the flight is below it. After a timeout nothing is in
 * flight and window_bytes counts at once: the controller sets it to one packet if it wants to begin there.
 *
 * WHAT IS NOT TOLD. Halves of a scheme at the receiver are not carried by this interface: a library sees what the
 * transport's own receiver reports.
 *
 * Times are in ns since the start of the run, sizes in payload bytes, rates in payload bit/s. Times of the receiver
 * are on a clock of its own: only their differences mean anything. All that a controller remembers belongs into the
 * state that `create` makes: there is one for each flow. It is used by one thread at a time.
 *
 * Structures only grow, at their ends, as long as DUMBBELL_INTERFACE stays the same: a library works with every later
 * dumbbell of the same interface. Those that are elements of arrays (dumbbell_packet, dumbbell_value) do not grow.
 */
#ifndef DUMBBELL_H
#define DUMBBELL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DUMBBELL_INTERFACE 1u

/* A time that never comes, a duration that is not known. */
#define DUMBBELL_NONE UINT64_MAX
/* No limit: for window_bytes, pacing_bps and media_bps. */
#define DUMBBELL_UNLIMITED ((double)INFINITY)
/* Most fields of a controller. */
#define DUMBBELL_MOST_FIELDS 64u

/* ---- What happens ---------------------------------------------------------------------------------------------- */

/* One packet that was acknowledged or lost. */
struct dumbbell_packet {
    uint64_t number;                  /* grows by one with every transmission, never used twice */
    uint64_t sent_at_ns;              /* sender's clock */
    uint64_t received_at_ns;          /* receiver's clock; without meaning in a loss */
    uint64_t lost_at_send_bytes;      /* payload lost on the connection, in all, when it was sent */
    uint64_t in_flight_at_send_bytes; /* payload in flight just after it was sent */
    uint32_t bytes;                   /* payload of this packet: what window and pacing count for it */
    bool retransmission;              /* it carried data that was sent before */
    bool was_lost;                    /* it had been declared lost: a spurious loss */
    bool ce;                          /* it arrived marked with CE; false also if the ACK that listed it was lost */
};

/* At least one packet was newly acknowledged. */
struct dumbbell_ack {
    uint64_t now_ns;
    const struct dumbbell_packet *packets; /* newly acknowledged, in ascending order */
    size_t packet_count;
    uint64_t acked_bytes;            /* the sum of their payload, selectively acknowledged and sent again included */
    /* payload by which a window grows: acked_bytes, or as far as the stream is complete */
    uint64_t growth_bytes;
    uint64_t lost_bytes;             /* payload declared lost by this ACK; on_loss has been called */
    uint64_t rtt_ns;                 /* of the newest packet; DUMBBELL_NONE without a sample */
    uint64_t srtt_ns;                /* smoothed (RFC 6298) */
    uint64_t rttvar_ns;
    uint64_t min_rtt_ns;             /* of the connection's life */
    uint64_t ack_delay_ns;           /* the receiver says that it held the ACK so long */
    uint64_t in_flight_before_bytes; /* payload in flight before this ACK */
    uint64_t in_flight_bytes;        /* now: sent, neither acknowledged nor declared lost */
    uint64_t peak_in_flight_bytes;   /* most at any moment since the start of the previous round trip */
    uint64_t delivered_bytes;        /* payload on the connection, in all; each transmission that arrived counts */
    uint64_t next_number;            /* the next transmission gets this number */
    uint64_t queued_bytes;           /* payload written by the application, not sent; UINT64_MAX: it always has more */
    uint64_t queue_delay_ns;         /* the oldest frame of a live source has waited so long */
    /* delivery rate sample, payload bit/s; the rate_ values mean nothing unless rate_valid */
    uint64_t rate_bps;
    uint64_t rate_delivered_bytes;   /* payload delivered over the sample's interval */
    uint64_t rate_interval_ns;
    uint64_t rate_prior_delivered_bytes; /* delivered in all when the newest packet was sent */
    uint64_t rate_lost_bytes;            /* lost over the interval */
    uint64_t rate_in_flight_at_send_bytes;
    bool rate_valid;
    bool rate_app_limited; /* the sample was taken while the application limited the sender */
    bool window_limited;   /* the window limited sending since the previous round trip */
    bool app_limited;      /* the application had nothing to send, and what was in flight then has not arrived */
    bool round_start;      /* a round trip ended with this ACK */
    bool in_recovery;      /* an episode goes on that a loss or a mark began; false after a timeout */
    /* the receiver has the stream up to here: TCP's cumulative acknowledgement; 0 where nothing is sent again */
    uint64_t complete_bytes;
    uint64_t sent_bytes; /* the stream was sent up to here; what is sent again does not count twice */
    bool pacing_limited; /* the pacer kept packets back since the previous round trip that would have filled the window */
    /* with losses_with_ack: the packets that were lost by this ACK, in ascending order, and whether the first loss of an
     * episode is among them; otherwise none */
    const struct dumbbell_packet *lost;
    size_t lost_count;
    bool lost_new_episode;
};

/* Packets were declared lost. Called before on_ack of the same ACK; with losses_with_ack only where none follows. */
struct dumbbell_loss {
    uint64_t now_ns;
    const struct dumbbell_packet *packets; /* in ascending order */
    size_t packet_count;
    uint64_t lost_bytes;             /* the sum of their payload */
    uint64_t in_flight_before_bytes; /* payload in flight before they were taken out */
    uint64_t in_flight_bytes;        /* and now */
    uint64_t srtt_ns;
    uint64_t next_number;
    bool new_episode; /* the first loss of an episode: the controller reduces its window, once; nobody else does */
    /* an ACK revealed them, and on_ack of it follows at once; otherwise a timer did, or an ACK that acknowledges nothing
     * new */
    bool by_ack;
};

enum { DUMBBELL_RTO = 0, DUMBBELL_PERSISTENT_CONGESTION = 1 };

/* The retransmission timer expired, and all that was in flight is lost; no on_loss tells of these packets. Or congestion
 * is persistent (RFC 9002 7.6): on_loss has told the losses just before (with losses_with_ack: on_ack follows with them).
 * The window is the controller's to set. */
struct dumbbell_timeout {
    uint64_t now_ns;
    uint64_t in_flight_before_bytes; /* payload in flight before the losses */
    uint64_t next_number;
    uint32_t kind; /* DUMBBELL_RTO, DUMBBELL_PERSISTENT_CONGESTION */
    bool repeated; /* nothing was acknowledged since the previous one */
};

/* A packet was sent. */
struct dumbbell_sent {
    uint64_t now_ns;
    uint64_t number;
    uint64_t in_flight_bytes; /* payload, this packet included */
    uint32_t bytes;           /* its payload */
    bool retransmission;
    bool filler; /* without data of the application */
    /* of a live source: the frame that its payload is of (dumbbell_frame.number); 0: none. No packet carries payload of
     * two frames */
    uint32_t frame;
    bool frame_end; /* the frame ends with this packet */
    uint32_t idle_timeouts; /* retransmission timeouts since the packet before, with nothing in flight: a window may decay */
};

/* The receiver reported new CE marks. Called before on_ack of the same ACK. */
struct dumbbell_ecn {
    uint64_t now_ns;
    uint64_t ce_packets; /* newly reported as marked */
    uint64_t packets;    /* newly reported in all */
    uint64_t in_flight_bytes; /* payload */
    uint64_t srtt_ns;
    bool new_episode; /* the first mark of a round trip: the controller reduces its window, nobody else does */
    uint64_t newest_sent_at_ns; /* the newest packet that the same ACK acknowledges left then: the sent_time of RFC 9002 B.7 */
};

/* The encoder of a live source wrote a frame. */
struct dumbbell_frame {
    uint64_t now_ns;
    uint64_t bytes;          /* its payload */
    uint64_t queued_bytes;   /* payload that waits to be sent, this frame included */
    uint64_t queue_delay_ns; /* the oldest frame of that has waited so long */
    bool key;
    uint32_t number; /* of frames, from 1: the one that dumbbell_sent.frame names */
};

/* ---- What is allowed ------------------------------------------------------------------------------------------- */

/*
 * What a controller allows. `control` finds the values in brackets and writes those that it means otherwise; window_bytes
 * it has to write. A value that is not allowed ends the run with a line that says so.
 */
struct dumbbell_control {
    /* most payload in flight, sent again and fillers included, headers not: 1 to 2^32; DUMBBELL_UNLIMITED if
     * pacing_bps is limited [nothing yet] */
    double window_bytes;
    /* payload bits per second, headers not counted: after a packet of n payload bytes the next one waits
     * 8 n / pacing_bps; 1 to 10^12; DUMBBELL_UNLIMITED: as fast as the window opens [DUMBBELL_UNLIMITED] */
    double pacing_bps;
    uint64_t burst_bytes; /* most payload that leaves back to back when pacing; 0: one packet [0] */
    uint64_t wake_at_ns;  /* when to call on_wake: 1 us from now or later [DUMBBELL_NONE] */
    /* payload bits per second that a live encoder is to produce: 1 to 10^12 [DUMBBELL_UNLIMITED: from window and
     * pacing] */
    double media_bps;
    int64_t filler_bytes; /* payload counted for packets without data, sent when there is no other; -1: none [-1] */
    const char *failure;  /* why the controller gives up, or NULL [NULL] */
    /* a frame of a live source of which nothing was sent for longer is dropped whole, and a key frame asked for; one that
     * has begun to leave is finished [DUMBBELL_NONE: none is dropped] */
    uint64_t max_frame_wait_ns;
    /* the controller itself limits the sender, as BBR does while it probes the RTT: rate_app_limited is true for packets
     * that are sent meanwhile, and until what was in flight at the end of it has arrived [false] */
    bool app_limited;
};

/* ---- Controllers ----------------------------------------------------------------------------------------------- */

enum { DUMBBELL_NUMBER = 0, DUMBBELL_INTEGER = 1, DUMBBELL_FLAG = 2, DUMBBELL_CHOICE = 3, DUMBBELL_FILE = 4 };

/* A parameter, set with `--set SCHEME.NAME=VALUE` or in a scheme's file. */
struct dumbbell_parameter {
    const char *name;
    const char *unit; /* may be NULL */
    const char *help;
    uint32_t kind;       /* DUMBBELL_NUMBER ... DUMBBELL_FILE */
    double preset;       /* value if not set; of a flag 0 or 1, of a choice the index; not for files */
    double least, most;  /* of numbers and whole numbers */
    const char *const *choices; /* of a choice: names, and NULL after the last */
};

/* A parameter's value. */
struct dumbbell_value {
    double number;           /* a number; of a flag 0 or 1, of a choice its index */
    const char *text;        /* of a choice its name; of a file its name, or NULL if none was named */
    const uint8_t *contents; /* of a file; valid until `create` returns */
    size_t length;           /* of the contents */
};

/* A value for plots; written by `fields`, at every sample of a run. */
struct dumbbell_field {
    const char *name; /* letters, digits and _ */
    const char *unit; /* may be NULL */
};

/* What the controller of a flow is given when it is made. */
struct dumbbell_start {
    uint64_t now_ns;
    uint64_t initial_window_bytes; /* the transport's, payload */
    uint64_t seed;                 /* for whatever is drawn at random */
    uint32_t mss_bytes;            /* payload of a full packet, without headers */
};

/* A controller. Functions may be NULL unless it says otherwise. */
struct dumbbell_controller {
    const char *name;    /* letters, digits and ._- */
    const char *summary; /* one sentence */
    const struct dumbbell_parameter *parameters;
    size_t parameter_count;
    const struct dumbbell_field *field_list;
    size_t field_count;
    /* Needed. The state of a new flow; `values` are those of `parameters`, in their order. A controller that cannot start
     * returns NULL and may set `refusal` to a text that says why. */
    void *(*create)(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal);
    void (*destroy)(void *state); /* needed */
    void (*on_ack)(void *state, const struct dumbbell_ack *event); /* needed */
    void (*control)(const void *state, struct dumbbell_control *control); /* needed; changes nothing */
    void (*fields)(const void *state, double *values); /* needed if there are fields; NAN for those without a value */
    void (*on_loss)(void *state, const struct dumbbell_loss *event);
    void (*on_timeout)(void *state, const struct dumbbell_timeout *event);
    void (*on_ecn)(void *state, const struct dumbbell_ecn *event);
    void (*on_sent)(void *state, const struct dumbbell_sent *event);
    void (*on_frame)(void *state, const struct dumbbell_frame *event);
    void (*on_established)(void *state, uint64_t now_ns, uint64_t rtt_ns); /* the connection is set up */
    void (*on_spurious_loss)(void *state, uint64_t now_ns); /* nothing of the last episode was lost: it may be undone */
    void (*on_wake)(void *state, uint64_t now_ns);          /* wake_at_ns has come */
    /* The episode that a loss or a mark began is over: what was in flight then is settled. Before on_ack of the same
     * ACK. Not called for an episode that a timeout or on_spurious_loss ends. */
    void (*on_recovered)(void *state, uint64_t now_ns);
    /* Losses come with the ACK that revealed them (dumbbell_ack.lost), so that the ACK can be looked at first, as QUIC's
     * stacks do; on_loss is called for the others. The transport reads a new window after on_ack then: such a controller
     * needs its setting `recovery = "immediate"`, for `prr` reads it where an episode begins, before on_ack. */
    bool losses_with_ack;
};

/* Whether a window may grow: it limited what was sent, or, in slow start, it is less than twice what was in flight. */
static inline bool dumbbell_may_grow(const struct dumbbell_ack *ack, double window_bytes, bool in_slow_start)
{
    return ack->window_limited || ack->pacing_limited || (in_slow_start && window_bytes < 2.0 * (double)ack->peak_in_flight_bytes);
}

/* When the ACK left, on the receiver's clock: after the last packet arrived it was held for so long. DUMBBELL_NONE
 * without packets. Wrong if that packet is not listed: it had arrived before, or is not newly acknowledged. */
static inline uint64_t dumbbell_ack_sent_at_ns(const struct dumbbell_ack *ack)
{
    uint64_t last_ns = 0;

    for (size_t i = 0; i < ack->packet_count; i++)
        if (ack->packets[i].received_at_ns > last_ns)
            last_ns = ack->packets[i].received_at_ns;
    return ack->packet_count == 0 ? DUMBBELL_NONE : last_ns + ack->ack_delay_ns;
}

/* ---- The library ----------------------------------------------------------------------------------------------- */

/* What a library declares; DUMBBELL_PLUGIN fills it in. */
struct dumbbell_plugin {
    uint32_t interface_version;
    uint32_t plugin_size;
    uint32_t controller_size, parameter_size, field_size, value_size, start_size, control_size;
    uint32_t packet_size, ack_size, loss_size, timeout_size, ecn_size, sent_size, frame_size;
    const struct dumbbell_controller *const *controllers;
    size_t controller_count;
};

#if defined(_WIN32)
#define DUMBBELL_EXPORT __declspec(dllexport)
#else
#define DUMBBELL_EXPORT __attribute__((visibility("default")))
#endif

DUMBBELL_EXPORT const struct dumbbell_plugin *dumbbell_plugin(void);

/* What the function dumbbell_plugin consists of; for those that have more to do in it. */
#define DUMBBELL_DECLARE(...)                                                              \
    static const struct dumbbell_controller *const dumbbell_controllers[] = {__VA_ARGS__}; \
    static const struct dumbbell_plugin dumbbell_declaration = {                           \
        DUMBBELL_INTERFACE,                                                                \
        sizeof(struct dumbbell_plugin),                                                    \
        sizeof(struct dumbbell_controller),                                                \
        sizeof(struct dumbbell_parameter),                                                 \
        sizeof(struct dumbbell_field),                                                     \
        sizeof(struct dumbbell_value),                                                     \
        sizeof(struct dumbbell_start),                                                     \
        sizeof(struct dumbbell_control),                                                   \
        sizeof(struct dumbbell_packet),                                                    \
        sizeof(struct dumbbell_ack),                                                       \
        sizeof(struct dumbbell_loss),                                                      \
        sizeof(struct dumbbell_timeout),                                                   \
        sizeof(struct dumbbell_ecn),                                                       \
        sizeof(struct dumbbell_sent),                                                      \
        sizeof(struct dumbbell_frame),                                                     \
        dumbbell_controllers,                                                              \
        sizeof(dumbbell_controllers) / sizeof(dumbbell_controllers[0]),                    \
    };                                                                                     \
    return &dumbbell_declaration;

/* DUMBBELL_PLUGIN(&mine) or DUMBBELL_PLUGIN(&one, &other): once in a library, outside of functions. */
#define DUMBBELL_PLUGIN(...)                            \
    const struct dumbbell_plugin *dumbbell_plugin(void) \
    {                                                   \
        DUMBBELL_DECLARE(__VA_ARGS__)                   \
    }

#ifdef __cplusplus
}
#endif

#endif
