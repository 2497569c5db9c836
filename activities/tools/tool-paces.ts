import type { DeltaBody } from '../../contract/deltas';
import type { ToolOutcome } from '../../contract/record/wire';
import type { ToolRegistry } from './tools';

/** So long a call may take to count as short. */
const shortMs = 20;
const looksAt = 5;
const needs = 3;

/**
 * How long the last calls of each tool took in this process. A run that begins is told which tools were short: their calls need no command of their own.
 * It is told once, and its history keeps that.
 */
export class ToolPaces {
  private readonly last = new Map<string, readonly number[]>();
  private readonly more = new Set<string>();

  constructor(private readonly tools: ToolRegistry) {}

  note(tool: string, ms: number): void {
    this.last.set(tool, [...(this.last.get(tool) ?? []), ms].slice(-looksAt));
  }

  /** Something about a call needs more than a result: it asks somebody, or shows what it does. */
  noteMore(tool: string): void {
    this.more.add(tool);
  }

  isBrief(tool: string): boolean {
    const last = this.last.get(tool) ?? [];
    return !this.more.has(tool) && last.length >= needs && last.every((ms) => ms < shortMs) && this.mayBeBrief(tool);
  }

  /** Its user has said that a second call does no harm: nobody says so of a tool without an `effect`. */
  private mayBeBrief(name: string): boolean {
    const facts = this.tools.factsOf(name);
    if (facts === undefined) return false;
    if (facts.quick) return true;
    const streams = facts.kind === 'streamable' || facts.kind === 'enhanced-streamable';
    return (
      this.tools.find(name)?.effect === 'none' &&
      !streams &&
      facts.ownAttempts === undefined &&
      facts.concurrency === undefined &&
      facts.external !== true
    );
  }
}

/** One call, as its tool's pace sees it. */
export class PacedCall {
  constructor(
    private readonly tool: string,
    private readonly paces: ToolPaces | undefined,
  ) {}

  async take(execute: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const { paces, tool } = this;
    if (paces === undefined) return execute();
    const began = performance.now();
    let noted = false;
    const noteOnce = (ms: number): void => {
      if (!noted) paces.note(tool, ms);
      noted = true;
    };
    // One that never comes back is not short either.
    const late = setTimeout(() => noteOnce(shortMs), shortMs);
    late.unref();
    let outcome: ToolOutcome | undefined;
    try {
      outcome = await execute();
      return outcome;
    } finally {
      clearTimeout(late);
      const ms = performance.now() - began;
      // How soon a call fails says nothing of those that do not.
      if (ms >= shortMs || outcome?.type === 'done') noteOnce(ms);
      if (outcome?.type === 'interrupted') paces.noteMore(tool);
    }
  }

  /** Deltas of a local activity have no event to be joined to. */
  showing(publish: (delta: DeltaBody) => void): (delta: DeltaBody) => void {
    return (delta) => {
      this.paces?.noteMore(this.tool);
      publish(delta);
    };
  }
}
