/** Tables as bytes, as servers send them. */

export interface ColumnData {
    name: string;
    type: "f64" | "f32" | "u32" | "i32" | "u8";
    values: number[];
    names?: string[];
}

const SIZES = { f64: 8, f32: 4, u32: 4, i32: 4, u8: 1 };

/** Returns a table as bytes, by the description of python/dumbbell/present/serve/columns.py. */
export function encodeColumns(meta: unknown, given: ColumnData[], before = 0): ArrayBuffer {
    let at = 0;
    const columns = given.map(({ name, type, values, names }) => {
        const column = { name, type, offset: at, length: values.length, ...(names ? { names } : {}) };
        at += Math.ceil((values.length * SIZES[type]) / 8) * 8;
        return column;
    });
    const text = new TextEncoder().encode(JSON.stringify({ meta, columns }));
    const start = before + Math.ceil((4 + text.length) / 8) * 8;
    const view = new DataView(new ArrayBuffer(start + at));
    view.setUint32(before, text.length, true);
    new Uint8Array(view.buffer).set(text, before + 4);
    for (const [index, { type, values }] of given.entries())
        for (const [row, value] of values.entries()) {
            const place = start + columns[index]!.offset + row * SIZES[type];
            if (type === "f64") view.setFloat64(place, value, true);
            else if (type === "f32") view.setFloat32(place, value, true);
            else if (type === "u32") view.setUint32(place, value, true);
            else if (type === "i32") view.setInt32(place, value, true);
            else view.setUint8(place, value);
        }
    return view.buffer as ArrayBuffer;
}
