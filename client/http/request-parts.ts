import { isMessageId } from '../../contract/conversations';
import { HoldfastError } from '../../contract/errors';
import { isAnyRunId } from '../../contract/record/child-runs';
import { shown } from '../../contract/shown';

type QueryValue = string | number | boolean | readonly string[] | undefined;

/** The error of `Headers` would show the key. */
export function bearer(key: string): string {
  if (!/^[!-~]+$/.test(key)) throw new HoldfastError('identity-invalid', 'The key is empty, or has characters that no key has.');
  return `Bearer ${key}`;
}

/** URLs resolve `..`, so an unchecked name could change the route. */
export function pathOf(path: string, names: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const value = names[name] ?? '';
    const refused = refusalOf(
      path.startsWith('/keys/') ? 'key' : path.startsWith('/triggers/') && name === 'name' ? 'trigger' : name,
      value,
    );
    if (refused !== undefined) throw refused;
    return encodeURIComponent(value);
  });
}

function refusalOf(name: string, value: string): HoldfastError | undefined {
  const told = shown(value);
  if (name === 'id') return isAnyRunId(value) ? undefined : new HoldfastError('run-id-invalid', `${told} is no id of a run.`);
  if (name === 'message') return isMessageId(value) ? undefined : new HoldfastError('message-unknown', `No message has the id ${told}.`);
  if (!['', '.', '..'].includes(value)) return undefined;
  if (name === 'key') return new HoldfastError('key-unknown', `No key has the id ${told}.`);
  if (name === 'address') return new HoldfastError('call-unknown', `The run has no call at ${told}.`);
  if (name === 'interruptId') return new HoldfastError('interrupt-unknown', `No interrupt has the id ${told}.`);
  if (name === 'delivery') return new HoldfastError('delivery-unknown', `No delivery has the id ${told}.`);
  if (name === 'trigger') return new HoldfastError('trigger-unknown', `No trigger has the name ${told}.`);
  return new HoldfastError('policy-unknown', `No policy has the name ${told}.`);
}

export function queryText(query: object): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, QueryValue][])
    for (const one of Array.isArray(value) ? (value as readonly string[]) : value === undefined ? [] : [String(value)])
      set.append(name, one);
  const text = set.toString();
  return text === '' ? '' : `?${text}`;
}

/** Chained streams would pass on every piece separately, which is slow. */
export async function* textsOf({ body }: Response, errorOf: (error: unknown) => unknown): AsyncGenerator<string> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const next = await reader.read().catch((error: unknown) => Promise.reject(errorOf(error)));
      if (next.done) return;
      yield decoder.decode(next.value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

export async function* linesIn(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
