import { isRecord } from './check';
import { canonicalJson } from './messages/messages';
import { cut } from './shown';

/** What of a call a middleware can change. */
export type ChangedPart = 'instructions' | 'messages' | 'tools' | 'model' | 'settings' | 'answer' | 'arguments' | 'options' | 'result';

/** A middleware that changed something of a call, or of what the agent goes on with. */
export interface MiddlewareChange {
  readonly middleware: string;
  /** Which of its hooks it was. */
  readonly hook: string;
  readonly changed: readonly ChangedPart[];
  /** It was the worker middleware of that name. */
  readonly onWorker?: true;
}

/** So many are told of one call. */
const most = 16;

/** The changes with one more. A hook that is entered again, or called again, is told once. */
export function withChange(changes: readonly MiddlewareChange[], change: MiddlewareChange): readonly MiddlewareChange[] {
  const middleware = cut(change.middleware);
  const known = changes.find((one) => one.middleware === middleware && one.hook === change.hook && one.onWorker === change.onWorker);
  if (known === undefined) return changes.length >= most ? changes : [...changes, { ...change, middleware }];
  const added = change.changed.filter((part) => !known.changed.includes(part));
  return added.length === 0 ? changes : changes.map((one) => (one === known ? { ...known, changed: [...known.changed, ...added] } : one));
}

const requestParts = ['instructions', 'messages', 'tools', 'model', 'settings'] as const;

/** What of a model request is another one. Nothing of what is no request: whoever takes it says so. */
export function changedInRequest(got: object, handed: unknown): readonly ChangedPart[] {
  if (got === handed || !isRecord(handed)) return [];
  const [from, to] = [got as Readonly<Record<string, unknown>>, handed];
  return requestParts.filter((part) => (part === 'messages' ? !sameMessages(from[part], to[part]) : !same(from[part], to[part])));
}

/** Whether two lists say the same to a model: ids are none of its business. */
function sameMessages(got: unknown, handed: unknown): boolean {
  if (got === handed) return true;
  if (!Array.isArray(got) || !Array.isArray(handed) || got.length !== handed.length) return false;
  return got.every((message, position) => sameMessage(message, handed[position]));
}

export function sameMessage(one: unknown, other: unknown): boolean {
  return one === other || same(withoutId(one), withoutId(other));
}

function withoutId(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { id: _, ...rest } = message;
  return rest;
}

/** Whether both are the same as JSON. What is no JSON is another one. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch {
    return false;
  }
}
