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

  /** Output will follow: the output of an earlier attempt is void. */
  begin(): void {
    this.send({ type: 'attempt-start' });
  }

  output(piece: string | Part): void {
    if (piece === '') return;
    this.send({ type: 'tool-output-delta', ...this.call, ...(typeof piece === 'string' ? { text: piece } : { part: piece }) });
  }

  /** Progress that cannot be shown is dropped, so that the tool does not fail. */
  progress(data: unknown): void {
    if (!this.isOpen('call.progress') || this.publish === undefined || data === undefined || notJson(data) !== undefined) return;
    const text = JSON.stringify(data);
    if (utf8Length(text) > limits.progress) return;
    // A copy: the tool may change the object later.
    this.send({ type: 'tool-progress', ...this.call, data: JSON.parse(text) as Json });
  }

  /** The deltas of an execution without a result are void. */
  end(hasResult: boolean): void {
    if (this.shown && !hasResult) this.send({ type: 'attempt-void' });
    this.over = true;
  }

  /** Reports a late call. */
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
