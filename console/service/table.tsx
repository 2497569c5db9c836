import type { ComponentChildren, JSX } from 'preact';

export interface Column {
  readonly name: string;
  readonly isNumber?: boolean;
}

interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ComponentChildren[]; readonly kind?: string }[];
  readonly empty: string;
}

/** A table that becomes a list of cards where there is no room for its columns. */
export function Table({ label, columns, rows, empty }: TableProps): JSX.Element {
  if (rows.length === 0) return <p class="muted table-empty">{empty}</p>;
  return (
    <table class="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ name, isNumber }) => (
            <th key={name} scope="col" class={isNumber === true ? 'number' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells, kind }) => (
          <tr key={key} class={kind}>
            {cells.map((cell, at) => {
              const column = columns[at];
              return (
                <td key={column?.name} data-name={column?.name} class={column?.isNumber === true ? 'number' : undefined}>
                  {cell}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
