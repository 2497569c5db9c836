import type { ComponentChildren } from 'preact';

interface TableProps {
  readonly label: string;
  readonly columns: readonly (string | { readonly name: string; readonly isNumber: boolean })[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ComponentChildren[]; readonly kind?: string }[];
  readonly empty: string;
}

export function Table({ label, columns, rows, empty }: TableProps) {
  if (rows.length === 0) return <p class="muted">{empty}</p>;
  const heads = columns.map((column) => (typeof column === 'string' ? { name: column } : { name: column.name, class: 'number' }));
  return (
    <table class="table panel" aria-label={label}>
      <thead>
        <tr>
          {heads.map(({ name, ...rest }) => (
            <th key={name} scope="col" {...rest}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells, kind }) => (
          <tr key={key} class={kind}>
            {heads.map(({ name, ...rest }, at) => (
              <td key={name} data-name={name} {...rest}>
                {cells[at]}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
