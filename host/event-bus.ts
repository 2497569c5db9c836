import type { Delta, DeltaSink, DeltaSource } from '../contract/deltas';

interface Topic {
  /** For late readers. Undefined: too many deltas. */
  readonly calls: Map<string, Delta[] | undefined>;
  readonly listeners: Set<(delta: Delta) => void>;
}

/** Limits for late readers: deltas of an attempt, and calls of a run. */
const keptDeltas = 20_000;
const keptCalls = 256;
/** Most runs without readers that remember voided calls. */
const keptRuns = 1000;

/** Carries deltas from calls to readers of one process. Ended calls leave no deltas. */
export class ProcessBus implements DeltaSink, DeltaSource {
  private readonly topics = new Map<string, Topic>();

  publish(runId: string, delta: Delta): void {
    const topic = this.topicOf(runId);
    keep(topic.calls, delta);
    for (const listener of topic.listeners) listener(delta);
  }

  settle(runId: string, address: string): void {
    const topic = this.topics.get(runId);
    topic?.calls.delete(address);
    this.forgetIfEmpty(runId);
  }

  subscribe(runId: string, listener: (delta: Delta) => void): () => void {
    const { calls, listeners } = this.topicOf(runId);
    for (const deltas of calls.values()) for (const delta of deltas ?? []) listener(delta);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      this.forgetIfEmpty(runId);
    };
  }

  private topicOf(runId: string): Topic {
    let topic = this.topics.get(runId);
    if (topic === undefined) {
      topic = { calls: new Map(), listeners: new Set() };
      if (this.topics.size >= keptRuns) this.forgetOldest();
      this.topics.set(runId, topic);
    }
    return topic;
  }

  private forgetOldest(): void {
    for (const [runId, { calls, listeners }] of this.topics) {
      if (listeners.size > 0 || ![...calls.values()].every((deltas) => deltas?.at(-1)?.type === 'attempt-void')) continue;
      this.topics.delete(runId);
      return;
    }
  }

  private forgetIfEmpty(runId: string): void {
    const topic = this.topics.get(runId);
    if (topic !== undefined && topic.calls.size === 0 && topic.listeners.size === 0) this.topics.delete(runId);
  }
}

function keep(calls: Topic['calls'], delta: Delta): void {
  const { address } = delta;
  if (delta.type === 'attempt-void' || delta.type === 'attempt-start') {
    const voided = delta.type === 'attempt-start' ? (calls.get(address) ?? []).filter(({ type }) => type === 'attempt-void') : [];
    calls.delete(address);
    if (calls.size < keptCalls) calls.set(address, [...voided, delta]);
    return;
  }
  const kept = calls.get(address);
  if (kept === undefined) return;
  if (kept.length < keptDeltas) kept.push(delta);
  else calls.set(address, undefined);
}

export const processBus = new ProcessBus();
