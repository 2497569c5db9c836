import { isRecord } from './check';
import { canonicalJson } from './messages/messages';
import { cut } from './shown';

export type ChangedPart = 'instructions' | 'messages' | 'tools' | 'model' | 'settings' | 'answer' | 'arguments' | 'options' | 'result';

/** A middleware that changed a call or the result. */
export interface MiddlewareChange {
  readonly middleware: string;
  readonly hook: string;
  readonly changed: readonly ChangedPart[];
  /** Set for worker middleware. */
  readonly onWorker?: true;
}

const most = 16;

/** A repeated hook counts once. */
export function withChange(changes: readonly MiddlewareChange[], change: MiddlewareChange): readonly MiddlewareChange[] {
  const middleware = cut(change.middleware);
  const known = changes.find((one) => one.middleware === middleware && one.hook === change.hook && one.onWorker === change.onWorker);
  if (known === undefined) return changes.length >= most ? changes : [...changes, { ...change, middleware }];
  const added = change.changed.filter((part) => !known.changed.includes(part));
  return added.length === 0 ? changes : changes.map((one) => (one === known ? { ...known, changed: [...known.changed, ...added] } : one));
}

const requestParts = ['instructions', 'messages', 'tools', 'model', 'settings'] as const;

/** An invalid request has no changes, because the model call refuses it. */
export function changedInRequest(got: object, handed: unknown): readonly ChangedPart[] {
  if (got === handed || !isRecord(handed)) return [];
  const [from, to] = [got as Readonly<Record<string, unknown>>, handed];
  return requestParts.filter((part) => (part === 'messages' ? !sameMessages(from[part], to[part]) : !same(from[part], to[part])));
}

/** Compares messages as a model sees them, without ids. */
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

export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch {
    return false;
  }
}
