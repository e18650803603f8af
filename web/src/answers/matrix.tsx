/** A matrix as a table with coloured cells. */

import { Scrolling } from "../ui/plot";

export interface MatrixCell {
    text: string;
    small: string;
    ground?: string;
    href?: string;
}

export function Matrix(props: {
    label: string;
    corner: string;
    rows: readonly string[];
    columns: readonly string[];
    cell: (row: string, column: string) => MatrixCell | null;
}) {
    return (
        <Scrolling label={props.label}>
            <table class="matrix">
                <caption class="hidden">{props.label}</caption>
                <thead>
                    <tr>
                        <th scope="col" class="quiet">
                            {props.corner}
                        </th>
                        {props.columns.map((column) => (
                            <th key={column} scope="col" class="number">
                                {column}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {props.rows.map((row) => (
                        <tr key={row}>
                            <th scope="row">{row}</th>
                            {props.columns.map((column) => {
                                const cell = props.cell(row, column);
                                if (!cell) return <td key={column} class="gap" />;
                                const content = (
                                    <>
                                        {cell.text}
                                        <small>{cell.small}</small>
                                    </>
                                );
                                return (
                                    <td
                                        key={column}
                                        class="number"
                                        style={cell.ground ? { background: cell.ground } : undefined}
                                    >
                                        {cell.href ? <a href={cell.href}>{content}</a> : content}
                                    </td>
                                );
                            })}
                        </tr>
                    ))}
                </tbody>
            </table>
        </Scrolling>
    );
}
