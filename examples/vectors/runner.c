/*
 * Runs scripts (docs/how-to/vectors.md) with a controller in C: put yours in the place of reno.
 *
 *     cc -o runner runner.c -lm && ./runner SCRIPT...
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* RFC 5681 in packets; undo is the state before the latest loss. */
struct reno { double cwnd, ssthresh, undo_cwnd, undo_ssthresh; };

static void on_ack(struct reno *r, double packets, bool in_recovery, bool window_limited)
{
    if (in_recovery || !window_limited)
        return;
    double grown = fmin(packets, fmax(r->ssthresh - r->cwnd, 0)); /* slow start, equation 2 */
    r->cwnd += grown;
    r->cwnd += (packets - grown) / r->cwnd; /* congestion avoidance, equation 3 */
}

static void on_congestion(struct reno *r, bool is_loss)
{
    r->undo_cwnd = is_loss ? r->cwnd : 0;
    r->undo_ssthresh = r->ssthresh;
    r->cwnd = r->ssthresh = fmax(r->cwnd / 2, 2); /* equation 4 */
}

static void on_timeout(struct reno *r, bool repeated)
{
    if (!repeated)
        r->ssthresh = fmax(r->cwnd / 2, 2);
    r->cwnd = 1, r->undo_cwnd = 0;
}

static void on_spurious(struct reno *r)
{
    if (r->undo_cwnd > 0)
        r->cwnd = r->undo_cwnd, r->ssthresh = r->undo_ssthresh, r->undo_cwnd = 0;
}

static bool holds(const char *condition, const struct reno *r)
{
    double value = strncmp(condition, "cwnd", 4) == 0 ? r->cwnd : r->ssthresh;
    const char *sign = strpbrk(condition, "<>="), *text = strchr(condition, '=') + 1, *by = strchr(text, '~');
    if (strcmp(text, "none") == 0)
        return isinf(value);
    double wanted = atof(text), near = 1e-6 * fabs(wanted);
    if (by != NULL)
        near = atof(by + 1) * (strchr(by, '%') ? fabs(wanted) / 100 : 1);
    return *sign == '>' ? value >= wanted : *sign == '<' ? value <= wanted : fabs(value - wanted) <= near;
}

#define MOST 100000
static struct { long bytes, at_send; bool in_flight; } sent[MOST]; /* at_send: delivered when it left */
static struct reno r;
static long in_flight, delivered, episode_from, round_ends, next;
static bool in_episode, timed_out, limited, limited_before;

static void ack(const long *list, int count, long mss, const char *given)
{
    long bytes = 0, newest = list[count - 1];
    for (int i = 0; i < count; i++) {
        bytes += sent[list[i]].bytes;
        in_flight -= sent[list[i]].in_flight ? sent[list[i]].bytes : 0;
        sent[list[i]].in_flight = false;
    }
    delivered += bytes, timed_out = false, in_episode = in_episode && newest < episode_from;
    on_ack(&r, (double)bytes / mss, in_episode, given ? *given == 'y' : limited || limited_before);
    if (sent[newest].at_send >= round_ends)
        round_ends = delivered, limited_before = limited, limited = false;
}

static void leave(long number, long bytes, long mss)
{
    sent[number].bytes = bytes, sent[number].at_send = delivered, sent[number].in_flight = true;
    in_flight += bytes, next = number + 1;
    limited = limited || in_flight + mss > (long)(r.cwnd * mss);
}

static void congestion(bool is_loss)
{
    on_congestion(&r, is_loss);
    episode_from = next, in_episode = true;
}

static int numbers(char *text, long *list)
{
    int count = 0;
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        char *last = strstr(part, "..");
        for (long n = atol(part), end = last ? atol(last + 2) : n; n <= end && n < MOST && count < MOST; n++)
            list[count++] = n;
    }
    return count;
}

static bool event(char *name, char *words[], int count, long mss)
{
    static long list[MOST], released[MOST];
    int packets = 0, releases = 0;
    bool every = false;
    long bytes = mss;
    const char *given = NULL;
    for (int i = 0; i < count; i++) {
        char *value = strchr(words[i], '=');
        if (value == NULL)
            packets = numbers(words[i], list);
        else if (strncmp(words[i], "releases=", 9) == 0)
            releases = numbers(value + 1, released);
        else if (strncmp(words[i], "every=", 6) == 0)
            every = true;
        else if (strncmp(words[i], "bytes=", 6) == 0)
            bytes = atol(value + 1);
        else if (strncmp(words[i], "window_limited=", 15) == 0)
            given = value + 1;
        else if (strncmp(words[i], "ce=", 3) != 0 && strncmp(words[i], "packets=", 8) != 0)
            return false;
    }
    if (strcmp(name, "sent") == 0) {
        for (int i = 0; i < packets; i++)
            leave(list[i], bytes, mss);
    } else if (strcmp(name, "ack") == 0) {
        for (int i = 0, left = 0, step = every ? 1 : packets; i < packets; i += step) {
            ack(list + i, step, mss, given);
            for (; left < (long)releases * (i + step) / packets; left++) /* spread evenly over the ACKs */
                leave(released[left], mss, mss);
        }
    } else if (strcmp(name, "lost") == 0) {
        for (int i = 0; i < packets; i++)
            in_flight -= sent[list[i]].bytes, sent[list[i]].in_flight = false;
        if (list[packets - 1] >= episode_from)
            congestion(true);
    } else if (strcmp(name, "ecn") == 0) {
        if (!in_episode)
            congestion(false);
    } else if (strcmp(name, "timeout") == 0) {
        on_timeout(&r, timed_out);
        for (long n = 0; n < next; n++)
            sent[n].in_flight = false;
        in_flight = 0, episode_from = next, in_episode = false, timed_out = true;
    } else if (strcmp(name, "recovered") == 0 || strcmp(name, "spurious") == 0) {
        in_episode = false;
        if (*name == 's')
            on_spurious(&r);
    } else
        return false;
    return true;
}

static bool run(const char *file)
{
    static char line[1 << 20];
    FILE *stream = fopen(file, "r");
    if (stream == NULL)
        return perror(file), false;
    bool passed = true;
    long mss = 1000;
    memset(sent, 0, sizeof sent);
    r = (struct reno){10, INFINITY, 0, 0};
    in_flight = delivered = episode_from = round_ends = next = 0;
    in_episode = timed_out = limited = limited_before = false;
    for (int number = 1; fgets(line, sizeof line, stream); number++) {
        char *words[256];
        int count = 0;
        line[strcspn(line, "#\n")] = 0;
        for (char *word = strtok(line, " \t"); word && count < 256; word = strtok(NULL, " \t"))
            words[count++] = word;
        if (number == 1 || count < 2)
            continue;
        if (strcmp(words[0], "mss") == 0)
            mss = atol(words[1]);
        else if (strcmp(words[0], "window") == 0)
            r.cwnd = atof(words[1]);
        else if (*words[0] == '@' && !event(words[1], words + 2, count - 2, mss))
            fprintf(stderr, "%s: line %d: not understood by this runner\n", file, number), exit(2);
        for (int i = 1; i < count && strcmp(words[0], "expect") == 0; i++)
            if (!holds(words[i], &r)) {
                printf("%s: line %d: %s, but cwnd=%g ssthresh=%g\n", file, number, words[i], r.cwnd, r.ssthresh);
                passed = false;
            }
    }
    fclose(stream);
    printf("%s: %s\n", file, passed ? "passed" : "failed");
    return passed;
}

int main(int count, char *files[])
{
    bool passed = count > 1;
    for (int i = 1; i < count; i++)
        passed = run(files[i]) && passed;
    return passed ? 0 : 1;
}
