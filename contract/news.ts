/** The attribute by which a line of Temporal's log is known as one of ours. */
export const newsField = 'holdfast';

/** The failure of a query between an event and its task. Temporal logs a failed task, and the run is well. */
export const asksAgain = 'The run is about to go on. Ask it again.';

/** The failure of a task whose run went on with events of a task that timed out in another worker. The run is well. */
export const loadsAgain = 'This worker went on with a task that timed out in another worker. It loads the run again.';

export interface NewsFields {
  readonly event: 'run-start' | 'run-end' | 'interrupt' | 'answer' | 'reminder' | 'retry' | 'threw';
  readonly run: string;
  readonly agent?: string | undefined;
  readonly tool?: string | undefined;
  readonly address?: string | undefined;
  readonly attempt?: number | undefined;
  readonly interrupt?: string | undefined;
  readonly status?: string | undefined;
  readonly code?: string | undefined;
  readonly ms?: number | undefined;
  readonly stack?: string | undefined;
}

/** The stack of the innermost cause: user code is wrapped in errors that name it. */
export function stackOf(error: unknown): string | undefined {
  let stack: string | undefined;
  for (let depth = 0, cause = error; depth < 5 && typeof cause === 'object' && cause !== null; depth++) {
    const { stack: own, cause: next } = cause as { readonly stack?: unknown; readonly cause?: unknown };
    if (typeof own === 'string') stack = own;
    cause = next;
  }
  return stack;
}
