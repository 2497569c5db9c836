const unnamed = new WeakMap<object, string>();
let count = 0;

/** Native connections hide their server, and get a unique name. */
export function addressOf(connection: object): string {
  const known = knownAddress(connection);
  if (known !== undefined) return known;
  const name = unnamed.get(connection) ?? `native connection ${(count += 1)}`;
  unnamed.set(connection, name);
  return name;
}

export function addressFlag(connection: object): string {
  const known = knownAddress(connection);
  return known === undefined ? '' : ` --address ${known}`;
}

function knownAddress(connection: object): string | undefined {
  const { options } = connection as { readonly options?: { readonly address?: unknown } };
  return typeof options?.address === 'string' ? options.address : undefined;
}
