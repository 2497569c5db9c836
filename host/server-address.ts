const unnamed = new WeakMap<object, string>();
let count = 0;

/** The server of a connection. A native connection does not tell its server, and gets a unique name. */
export function addressOf(connection: object): string {
  const known = knownAddress(connection);
  if (known !== undefined) return known;
  const name = unnamed.get(connection) ?? `native connection ${(count += 1)}`;
  unnamed.set(connection, name);
  return name;
}

/** The flag for a command of Temporal, if the connection tells its server. */
export function addressFlag(connection: object): string {
  const known = knownAddress(connection);
  return known === undefined ? '' : ` --address ${known}`;
}

function knownAddress(connection: object): string | undefined {
  const { options } = connection as { readonly options?: { readonly address?: unknown } };
  return typeof options?.address === 'string' ? options.address : undefined;
}
