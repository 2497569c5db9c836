const unnamed = new WeakMap<object, string>();
let count = 0;

/** Where a connection leads. A native one does not say it, and has a name of its own instead: it may be to any server. */
export function addressOf(connection: object): string {
  const known = knownAddress(connection);
  if (known !== undefined) return known;
  const name = unnamed.get(connection) ?? `native connection ${(count += 1)}`;
  unnamed.set(connection, name);
  return name;
}

/** For a command of Temporal that a person is to type: where the server is, if the connection says it. */
export function addressFlag(connection: object): string {
  const known = knownAddress(connection);
  return known === undefined ? '' : ` --address ${known}`;
}

function knownAddress(connection: object): string | undefined {
  const { options } = connection as { readonly options?: { readonly address?: unknown } };
  return typeof options?.address === 'string' ? options.address : undefined;
}
