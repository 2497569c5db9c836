/** Bytes and counts; a test compares docs/reference/limits.md. Replay repeats the kernel's checks, so a lower number fails open runs. */
export const limits = {
  runInput: 256 * 1024,
  toolResult: 256 * 1024,
  mcpDescription: 16 * 1024,
  /** Facts of the worker that a run keeps from its start. */
  manifest: 1024 * 1024,
  progress: 64 * 1024,
  payload: 1024 * 1024,
  /** Last interrupt events of an isolated agent for the parent run. */
  lastNews: 32 * 1024,
  /** An untuned server takes 4 MB a workflow task, with up to 2 MB that arrived meanwhile. */
  activation: 1792 * 1024,
  stepEvents: 1536 * 1024,
  runResult: 1536 * 1024,
  inlineSnapshot: 1536 * 1024,
  externalSnapshot: 256 * 1024,
  memo: 512 * 1024,
  /** Twice the size at which the server suggests continue-as-new. */
  eventsPerRun: 2 * 4096,
  historyBytes: 2 * 4 * 1024 * 1024,
  signalsPerRun: 8000,
  updatesPerRun: 1500,
  maxIterations: 20,
  toolCallsPerMessage: 128,
  /** Nested agents. */
  agentDepth: 100,
  /** Events by agent code before a result reaches the run. */
  eventsInARow: 5000,
  /** Consecutive agents that end before a result reaches the run. */
  emptyRuns: 500,
  transfers: 100,
  openInterrupts: 200,
  interrupt: 256 * 1024,
  /** A larger schema of a tool is left out of interrupts. */
  interruptSchema: 8 * 1024,
  message: 512 * 1024,
  interruptsTogether: 1024 * 1024,
  errorMessage: 16 * 1024,
  toolOptions: 16 * 1024,
  /** Limited by the server, as a search attribute. */
  tags: 2048,
  /** Characters: databases of servers limit keywords. */
  starter: 200,
  /** Characters. */
  proof: 300,
  /** Characters. */
  cancelReason: 1000,
  /** Runs or answers of one request. */
  bulk: 500,
  /** Runs of one backfill of a schedule. */
  backfill: 100,
  /** Lines of a batch, and their total bytes. */
  batchLines: 1_000_000,
  batchBytes: 1024 * 1024 * 1024,
  /** Runs of a batch that hold a place at once. */
  batchConcurrency: 100,
  /** Batches that a service works on at once. */
  batches: 20,
  /** How long the store keeps the lines of a batch. */
  batchKeptMs: 60 * 24 * 3_600_000,
  /** Waiting messages, and their total bytes. */
  queuedMessages: 1000,
  queuedTogether: 512 * 1024,
  /** Unsent messages of one client to a conversation. */
  sentTogether: 4 * 1024 * 1024,
  /** Earlier messages at the start of a turn. */
  window: 512 * 1024,
  /** Tools of one message, and their total bytes. */
  clientTools: 64,
  clientToolBytes: 32 * 1024,
  /** Repeated ids are recognized in this many last messages. */
  keptMessageIds: 1000,
  delivery: 1024 * 1024,
  /** How long repeats of a delivery are recognized, and problems kept. */
  deliveryMs: 35 * 86_400_000,
  /** Receivers of a task. */
  pushConfigs: 10,
  /** A receiver that takes no notification for this time is dropped. */
  pushPatienceMs: 24 * 3_600_000,
  pushTryMs: 10_000,
  /** How long a service watches a task before another. */
  pushWatchMs: 300_000,
  pushWatched: 500,
  pushSent: 50,
  /** A larger notification leaves out the content of the state. */
  pushBody: 64 * 1024,
} as const;

export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) bytes += unit > 0x7ff ? 2 : 1;
    if (unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) index++;
  }
  return bytes;
}

export function jsonSize(value: unknown): number {
  const text = JSON.stringify(value);
  return text === undefined ? 0 : utf8Length(text);
}
