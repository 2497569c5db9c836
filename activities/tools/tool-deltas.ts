import type { DeltaBody } from '../../contract/deltas';
import { limits, utf8Length } from '../../contract/limits';
import type { Json, Part } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import type { Late } from '../health/late-calls';

export class ToolDeltas {
  private shown = false;
  private over = false;

  constructor(
    private readonly call: { readonly callId: string; readonly tool: string },
    private readonly publish: ((delta: DeltaBody) => void) | undefined,
    private readonly late: Late = () => undefined,
  ) {}

  begin(): void {
    this.send({ type: 'attempt-start' });
  }

  output(piece: string | Part): void {
    if (piece === '') return;
    this.send({ type: 'tool-output-delta', ...this.call, ...(typeof piece === 'string' ? { text: piece } : { part: piece }) });
  }

  /** Bad progress must not fail the tool. */
  progress(data: unknown): void {
    if (!this.isOpen('call.progress') || this.publish === undefined || data === undefined || notJson(data) !== undefined) return;
    const text = JSON.stringify(data);
    if (utf8Length(text) > limits.progress) return;
    // The tool may change the object later.
    this.send({ type: 'tool-progress', ...this.call, data: JSON.parse(text) as Json });
  }

  end(hasResult: boolean): void {
    if (this.shown && !hasResult) this.send({ type: 'attempt-void' });
    this.over = true;
  }

  isOpen(what: string): boolean {
    if (this.over) this.late(what);
    return !this.over;
  }

  private send(delta: DeltaBody): void {
    if (this.publish === undefined || this.over) return;
    if (!this.shown && delta.type !== 'attempt-start') this.publish({ type: 'attempt-start' });
    this.shown = true;
    this.publish(delta);
  }
}
