import { defined } from './defined';
import { isRecord } from './check';
import { isTime } from './given-time';
import { limits } from './limits';

/**
 * Where a cancel takes effect. `now`: all that is under way is told to stop. `after-model`: when a model has asked for tools, before they run.
 * `after-tools`: when the tools of an answer have run.
 */
export const cancelModes = ['now', 'after-model', 'after-tools'] as const;
export type CancelMode = (typeof cancelModes)[number];

/** Who wants that a run stops, and how: the payload of the signal. */
export interface CancelRequest {
  readonly modes: readonly CancelMode[];
  /** How long safe points are waited for, from `at` on. Then the request counts as `now`. */
  readonly withinMs?: number;
  /** When the client took the request, in milliseconds since 1970. Absent: when the run sees it. */
  readonly at?: number;
  /** False: agents below the one that the run was started with are left to end first. */
  readonly recursive: boolean;
  readonly reason?: string;
  readonly by?: string;
}

/** How a cancel took effect. */
export interface CancelFacts {
  readonly mode: CancelMode;
  /** Its time was up before a safe point came. */
  readonly escalated?: true;
  readonly reason?: string;
  readonly by?: string;
}

/** Anybody who reaches the server can send a signal, so senseless parts are skipped. */
export function cancelRequestIn(given: unknown): CancelRequest {
  const { modes, withinMs, at, recursive, reason, by } = isRecord(given) ? given : {};
  const known = Array.isArray(modes) ? cancelModes.filter((mode) => modes.includes(mode)) : [];
  return {
    modes: known.length === 0 ? ['now'] : known,
    recursive: recursive !== false,
    ...defined({
      withinMs: Number.isSafeInteger(withinMs) && (withinMs as number) >= 0 ? (withinMs as number) : undefined,
      at: isTime(at) ? at : undefined,
      reason: textIn(reason, limits.cancelReason),
      by: textIn(by, limits.starter),
    }),
  };
}

function textIn(value: unknown, longest: number): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, longest) : undefined;
}
