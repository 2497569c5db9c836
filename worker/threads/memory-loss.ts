const losses = new WeakMap<object, readonly string[]>();

export function noteMemoryLoss(error: unknown, runIds: () => Iterable<string>, workflowIds: ReadonlyMap<string, string>): void {
  if ((error as { code?: unknown } | undefined)?.code !== 'ERR_WORKER_OUT_OF_MEMORY') return;
  losses.set(
    error as object,
    [...new Set(runIds())].map((runId) => workflowIds.get(runId) ?? runId),
  );
}

/** The likely cause first. Undefined for other failures. */
export function memoryLossOf(failure: unknown): readonly string[] | undefined {
  for (let error = failure; typeof error === 'object' && error !== null; error = (error as { cause?: unknown }).cause) {
    const loss = losses.get(error);
    if (loss !== undefined) return loss;
  }
  return undefined;
}
