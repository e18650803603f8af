/** Scenarios for teaching, each with a story and its sources. */

import { DEFAULT, type Flow, type Scenario } from "./scenario";

export interface Source {
    text: string;
    address: string;
}

export interface Preset {
    name: string;
    title: string;
    /** Two paragraphs: the effect, and suggestions to try. */
    story: [string, string];
    sources: Source[];
    scenario: Scenario;
}

function flow(scheme: string, start_s = 0, more: Partial<Flow> = {}): Flow {
    return { scheme, start_s, stop_s: null, rtt_ms: null, ...more };
}

export const PRESETS: Preset[] = [
    {
        name: "bufferbloat",
        title: "Bufferbloat",
        story: [
            "One CUBIC flow meets a buffer that is four times as long as the path needs. CUBIC slows down only when a packet is lost, and a packet is lost only when the buffer is full. So it fills the buffer, and every packet, also those of a call or a game, waits in a queue of 100 to 160 ms on a path whose round trip takes 40 ms.",
            "Make the buffer shorter: the delay falls and the throughput hardly changes. Or keep it and choose CoDel as the queue's discipline: it drops a few packets early, when they have waited too long, and the queue stays near 5 ms. Or choose a scheme that looks at delay, such as Copa or BBR.",
        ],
        sources: [
            {
                text: "J. Gettys, K. Nichols: Bufferbloat: Dark Buffers in the Internet. ACM Queue 9(11), 2011",
                address: "https://doi.org/10.1145/2063166.2071893",
            },
            {
                text: "K. Nichols et al.: Controlled Delay Active Queue Management. RFC 8289, 2018",
                address: "https://www.rfc-editor.org/rfc/rfc8289",
            },
        ],
        scenario: { ...DEFAULT },
    },
    {
        name: "bbr-cubic",
        title: "BBR against CUBIC",
        story: [
            "BBR and CUBIC share one link. Who wins depends on the length of the buffer. Here it is half a bandwidth-delay product: CUBIC's window falls at every loss, BBR ignores most losses, and BBR takes nearly all of the link.",
            "Now move the buffer to the right. In a long buffer CUBIC can keep many packets in the queue, while BBR holds at most about two bandwidth-delay products in flight: from some length on CUBIC has more than BBR. Neither of them meant to be unfair. They listen to different signals.",
        ],
        sources: [
            {
                text: "M. Hock, R. Bless, M. Zitterbart: Experimental Evaluation of BBR Congestion Control. IEEE ICNP 2017",
                address: "https://doi.org/10.1109/ICNP.2017.8117540",
            },
            {
                text: "R. Ware et al.: Modeling BBR's Interactions with Loss-Based Congestion Control. ACM IMC 2019",
                address: "https://doi.org/10.1145/3355369.3355604",
            },
        ],
        scenario: { ...DEFAULT, flows: [flow("bbr"), flow("cubic")], buffer: 0.5, duration_s: 40 },
    },
    {
        name: "rtt",
        title: "RTT unfairness",
        story: [
            "Two Reno flows cross the same link. The round trip of the first takes 40 ms, that of the second 160 ms. Reno adds one packet to its window in each round trip, so the first flow grows four times as often, from the same losses. It ends up with several times the throughput.",
            "Give both flows CUBIC, whose growth follows the time since the last loss: the difference gets smaller, but does not go away. With BBR it turns round in long buffers: the flow with the longer round trip keeps more packets in flight.",
        ],
        sources: [
            {
                text: "T. V. Lakshman, U. Madhow: The Performance of TCP/IP for Networks with High Bandwidth-Delay Products and Random Loss. IEEE/ACM Transactions on Networking 5(3), 1997",
                address: "https://doi.org/10.1109/90.611099",
            },
            {
                text: "L. Xu et al.: CUBIC for Fast and Long-Distance Networks. RFC 9438, 2023",
                address: "https://www.rfc-editor.org/rfc/rfc9438",
            },
        ],
        scenario: {
            ...DEFAULT,
            flows: [flow("reno"), flow("reno", 0, { rtt_ms: 160 })],
            buffer: 1,
            duration_s: 60,
        },
    },
    {
        name: "ledbat",
        title: "LEDBAT's late-comer",
        story: [
            "LEDBAT is made for downloads in the background: it keeps its own queueing delay at 100 ms and makes way for others. To know the queueing delay it has to know the delay without a queue, and takes the smallest one that it has seen. The second flow starts when the first has already filled the queue. It takes that delay for an empty path and adds 100 ms of its own. The first flow sees too much delay and gives up its share.",
            "Choose ledbat-plus-plus for both flows: it slows down now and then to let the queue run empty, so that everybody sees the true delay. Or let both flows start at the same time: then they share well.",
        ],
        sources: [
            {
                text: "S. Shalunov et al.: Low Extra Delay Background Transport (LEDBAT). RFC 6817, 2012",
                address: "https://www.rfc-editor.org/rfc/rfc6817",
            },
            {
                text: "G. Carofiglio et al.: Rethinking the Low Extra Delay Background Transport (LEDBAT) Protocol. Computer Networks 57(8), 2013",
                address: "https://doi.org/10.1016/j.comnet.2013.02.020",
            },
        ],
        scenario: {
            ...DEFAULT,
            flows: [flow("ledbat"), flow("ledbat", 30)],
            rate_mbps: 12,
            buffer: 1000,
            unit: "packets",
            duration_s: 150,
        },
    },
    {
        name: "copa",
        title: "Copa's mode switch",
        story: [
            "Copa aims at a short queue that it empties every few round trips. After 15 s a Reno flow joins, which fills the queue and never lets it run empty. Copa notices that the queue is no longer its own and changes its mode: it now asks for as much as Reno takes. When Reno leaves at 40 s, Copa goes back.",
            "See the panel “Mode” (it flickers at the start too, while Copa looks for its rate). Then choose copa-delay for the first flow, which is Copa without this switch: while Reno is there it gets almost nothing. This is the old problem of schemes that go by delay: alone they are polite and fast, beside a flow that fills the buffer they starve.",
        ],
        sources: [
            {
                text: "V. Arun, H. Balakrishnan: Copa: Practical Delay-Based Congestion Control for the Internet. USENIX NSDI 2018, section 2.2",
                address: "https://www.usenix.org/conference/nsdi18/presentation/arun",
            },
        ],
        scenario: {
            ...DEFAULT,
            flows: [flow("copa"), flow("reno", 15, { stop_s: 40 })],
            rate_mbps: 32,
            rtt_ms: 60,
            buffer: 160,
            unit: "packets",
            duration_s: 60,
        },
    },
    {
        name: "slots",
        title: "Links that deliver in slots",
        story: [
            "A cellular base station serves each phone in turn: packets wait for their slot and then come in bursts. Here slots of 10 ms stand behind a link of 40 Mbit/s. The queue is not to blame for this wait, but a scheme that goes by delay cannot know that. PCC Vivace sees its delay go up and down, takes the bursts for congestion, and leaves most of the link unused.",
            "Set the slots to 0: it fills the link. Put them back and choose CUBIC or BBR: neither is troubled much. Then try Vegas, Copa or Sprout, which was designed for such links.",
        ],
        sources: [
            {
                text: "K. Winstein, A. Sivaraman, H. Balakrishnan: Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks. USENIX NSDI 2013",
                address: "https://www.usenix.org/conference/nsdi13/technical-sessions/presentation/winstein",
            },
            {
                text: "M. Dong et al.: PCC Vivace: Online-Learning Congestion Control. USENIX NSDI 2018",
                address: "https://www.usenix.org/conference/nsdi18/presentation/dong",
            },
        ],
        scenario: {
            ...DEFAULT,
            flows: [flow("vivace")],
            rate_mbps: 40,
            rtt_ms: 24,
            buffer: 567,
            unit: "packets",
            slot_ms: 10,
            duration_s: 30,
        },
    },
    {
        name: "starvation",
        title: "Starvation",
        story: [
            "Two flows of Copa in its default mode share 120 Mbit/s. The first packets of flow 1 were one millisecond faster than all later ones: a piece of luck on the way. From then on flow 1 believes in a base delay that does not exist, sees one millisecond of queue that is not there, and holds back. A difference of one millisecond in 60 decides who gets the link.",
            "Copa forgets its smallest RTT after ten seconds: watch what happens then. The paper shows that every scheme that keeps a small and steady delay can be starved in this way by a small enough error of its delay measurements. Set the advantage to 0, and both flows get the same.",
        ],
        sources: [
            {
                text: "V. Arun, M. Alizadeh, H. Balakrishnan: Starvation in End-to-End Congestion Control. ACM SIGCOMM 2022, section 5.1",
                address: "https://doi.org/10.1145/3544216.3544223",
            },
        ],
        scenario: {
            ...DEFAULT,
            flows: [flow("copa-delay"), flow("copa-delay")],
            rate_mbps: 120,
            rtt_ms: 60,
            unit: "unlimited",
            faster_ms: 1,
            duration_s: 20,
        },
    },
];

/** Scenarios by name of preset. */
export const SCENARIOS: Record<string, Scenario> = Object.fromEntries(
    PRESETS.map(({ name, scenario }) => [name, scenario]),
);
