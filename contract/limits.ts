/**
 * Sizes in bytes and counts; docs/reference/limits.md states the same numbers (a test compares). What the kernel checks is a part of replay: with a lower
 * number, open runs that are above it fail where they did not.
 */
export const limits = {
  runInput: 256 * 1024,
  toolResult: 256 * 1024,
  progress: 64 * 1024,
  payload: 1024 * 1024,
  /** What goes along with the end of an isolated agent of its interrupts, for the run that it is part of. */
  lastNews: 32 * 1024,
  /** A server that nobody tuned takes 4 MB a task, with up to 2 MB that came meanwhile. */
  activation: 1792 * 1024,
  stepEvents: 1536 * 1024,
  runResult: 1536 * 1024,
  inlineSnapshot: 1536 * 1024,
  externalSnapshot: 256 * 1024,
  memo: 512 * 1024,
  /** Twice as much as the size at which the server suggests a continue-as-new. */
  eventsPerRun: 2 * 4096,
  historyBytes: 2 * 4 * 1024 * 1024,
  signalsPerRun: 8000,
  updatesPerRun: 1500,
  maxIterations: 20,
  toolCallsPerMessage: 128,
  /** How many agents stand in each other. */
  agentDepth: 100,
  /** Events that code of an agent makes while nothing comes back to the run. */
  eventsInARow: 5000,
  /** Agents one after another that end without anything coming back to the run. */
  emptyRuns: 500,
  /** How often the agents of a team hand over to each other. */
  transfers: 100,
  openInterrupts: 200,
  interrupt: 256 * 1024,
  /** An interrupt shows the schema of a tool up to this size. */
  interruptSchema: 8 * 1024,
  message: 512 * 1024,
  interruptsTogether: 1024 * 1024,
  errorMessage: 16 * 1024,
  /** What one tool gets as options of a run, in every call of it. */
  toolOptions: 16 * 1024,
  /** Of a search attribute, by the server. */
  tags: 2048,
  /** Characters of the name of who starts a run: databases of servers take no more as a keyword. */
  starter: 200,
  /** Characters of why a run is cancelled. */
  cancelReason: 1000,
  /** Runs or answers of one request. */
  bulk: 500,
  /** Messages of a conversation that wait for a turn, and their bytes together. */
  queuedMessages: 1000,
  queuedTogether: 512 * 1024,
  /** Messages of one client that are on their way to a conversation, all together. */
  sentTogether: 4 * 1024 * 1024,
  /** What a turn begins with, of the messages before it. */
  window: 512 * 1024,
  /** Tools that a message brings for its turn, and their bytes together. */
  clientTools: 64,
  clientToolBytes: 32 * 1024,
  /** So many of its last messages a conversation knows again by their ids. */
  keptMessageIds: 1000,
  /** How many receivers of push notifications a task has. */
  pushConfigs: 10,
  /** How long a notification is tried again. Then its receiver is told no more. */
  pushPatienceMs: 24 * 3_600_000,
  /** How long a receiver may take to answer. */
  pushTryMs: 10_000,
  /** How long a service looks at one task until it is the turn of another one. */
  pushWatchMs: 300_000,
  /** How many tasks a service looks at at a time. */
  pushWatched: 500,
  /** How many notifications a service sends at a time. */
  pushSent: 50,
  /** Bytes of a notification. A larger one leaves out what its state says. */
  pushBody: 64 * 1024,
} as const;

/** Bytes of a text in UTF-8, without making the bytes. */
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
