export const newsField = 'holdfast';

/** Fails a query between an event and a workflow task. Temporal logs the failure, but the run is well. */
export const asksAgain = 'The run is about to go on. Ask it again.';

/** Fails a workflow task after a timeout in another worker. The run is well. */
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

/** Errors of Holdfast wrap errors of users. */
export function stackOf(error: unknown): string | undefined {
  let stack: string | undefined;
  for (let depth = 0, cause = error; depth < 5 && typeof cause === 'object' && cause !== null; depth++) {
    const { stack: own, cause: next } = cause as { readonly stack?: unknown; readonly cause?: unknown };
    if (typeof own === 'string') stack = own;
    cause = next;
  }
  return stack;
}
