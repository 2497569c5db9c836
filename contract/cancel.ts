import { authorOf } from './author';
import { defined } from './defined';
import { isRecord } from './check';
import { isTime } from './given-time';
import { limits } from './limits';

/**
 * Where a cancel takes effect. `now`: at once. `after-model`: after an answer with tool calls, before the tools run. `after-tools`: after
 * the tools of an answer.
 */
export const cancelModes = ['now', 'after-model', 'after-tools'] as const;
export type CancelMode = (typeof cancelModes)[number];

export interface CancelRequest {
  readonly modes: readonly CancelMode[];
  /** The wait for a safe point, from `at`. Then the request counts as `now`. */
  readonly withinMs?: number;
  /** When the client took the request, in milliseconds since 1970. Absent: when the run sees it. */
  readonly at?: number;
  /** False: agents below the root agent end first. */
  readonly recursive: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly proof?: string;
}

export interface CancelFacts {
  readonly mode: CancelMode;
  /** The time was up before a safe point. */
  readonly escalated?: true;
  readonly reason?: string;
  readonly by?: string;
  readonly proof?: string;
}

/** Anybody who reaches the server can send a signal. */
export function cancelRequestIn(given: unknown): CancelRequest {
  const { modes, withinMs, at, recursive, reason, by, proof } = isRecord(given) ? given : {};
  const known = Array.isArray(modes) ? cancelModes.filter((mode) => modes.includes(mode)) : [];
  return {
    modes: known.length === 0 ? ['now'] : known,
    recursive: recursive !== false,
    ...defined({
      withinMs: Number.isSafeInteger(withinMs) && (withinMs as number) >= 0 ? (withinMs as number) : undefined,
      at: isTime(at) ? at : undefined,
      reason: textIn(reason)?.slice(0, limits.cancelReason),
    }),
    ...authorOf({ by: textIn(by), proof }),
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
