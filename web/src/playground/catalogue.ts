/** Catalogue of schemes, links and settings, written by `scripts/playground_catalogue.py`. */

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type Table = { [key: string]: Json };

export interface Scheme {
    name: string;
    title: string;
    family: string;
    summary: string;
    source: string;
    /** True for cross traffic, which has no congestion control. */
    traffic: boolean;
    controller: string;
    parameters: Record<string, string>;
    transport: Table;
    application: Table;
    /** Parameters that name a file in the catalogue's folder, with its size in bytes. */
    files: Record<string, number>;
    /** Parameters that require a file from the reader. */
    needs: string[];
    /** Colour; "" means the text colour of the page. */
    color: string;
    marker: string;
    dashes: number[];
}

export interface Cellular {
    name: string;
    title: string;
    data: Table[];
    ack: Table[];
}

export interface Catalogue {
    version: string;
    path: { name: string; overhead_bytes: number; mtu_bytes: number; fragment: boolean };
    settings: { convergence_delta: number; jain_window_s: number; most_events_per_s: number; most_packets: number };
    packet_bytes: number;
    /** Seeds of runs, by the seed of the experiment from 1. */
    seeds: number[];
    families: Record<string, string>;
    queues: { name: string; kind: string }[];
    aqm_packets: number;
    cellular: Cellular[];
    schemes: Scheme[];
}

/** Returns the scheme with a name, or undefined. */
export function findScheme(catalogue: Catalogue, name: string): Scheme | undefined {
    return catalogue.schemes.find((scheme) => scheme.name === name);
}
