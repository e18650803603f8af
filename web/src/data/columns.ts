/** Binary tables of numbers from servers, files and workers: a length, a header in JSON, and the columns. */

export type NumberArray = Float64Array | Float32Array | Uint32Array | Int32Array | Uint8Array;

interface ColumnHeader {
    name: string;
    type: keyof typeof TYPES;
    offset: number;
    length: number;
    names?: string[];
}

const TYPES = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, i32: Int32Array, u8: Uint8Array } as const;

/** Column of numbers. In a column of strings, the numbers are indices of `names`. */
export interface Column {
    values: NumberArray;
    names: readonly string[] | null;
}

/** Decoded table. Its columns are views of the received bytes. */
export class Columns<M = unknown> {
    readonly meta: M;
    readonly #columns: ReadonlyMap<string, Column>;

    constructor(meta: M, columns: ReadonlyMap<string, Column>) {
        this.meta = meta;
        this.#columns = columns;
    }

    /** Returns a column. Throws if no column has this name. */
    column(name: string): Column {
        const column = this.#columns.get(name);
        if (!column) throw new Error(`no column ${name}: there are ${[...this.#columns.keys()].join(", ")}`);
        return column;
    }

    /** Returns the numbers of a column. */
    numbers(name: string): NumberArray {
        return this.column(name).values;
    }

    /** Returns the string in a row of a column of strings; "" if the cell is empty. */
    text(name: string, row: number): string {
        const { values, names } = this.column(name);
        return names?.[values[row] ?? -1] ?? "";
    }

    has(name: string): boolean {
        return this.#columns.has(name);
    }
}

/** Decodes a table that begins at `offset` (a multiple of 8) of a buffer. */
export function decodeColumns<M = unknown>(buffer: ArrayBuffer, offset = 0): Columns<M> {
    const length = new DataView(buffer, offset, 4).getUint32(0, true);
    const text = new TextDecoder().decode(new Uint8Array(buffer, offset + 4, length).slice());
    const header = JSON.parse(text) as { meta: M; columns: ColumnHeader[] };
    const start = offset + Math.ceil((4 + length) / 8) * 8;
    const columns = new Map<string, Column>();
    for (const { name, type, offset: at, length: items, names } of header.columns) {
        columns.set(name, { values: new TYPES[type](buffer, start + at, items), names: names ?? null });
    }
    return new Columns(header.meta, columns);
}
