import { isShown } from '../../contract/record/agent-paths';
import type { DeltaBody, DeltaOrigin, DeltaSink } from '../../contract/deltas';

export class LiveCall {
  private started = false;

  constructor(
    private readonly sink: DeltaSink,
    private readonly runId: string,
    private readonly origin: DeltaOrigin,
  ) {
    // An attempt that died with its worker could not declare itself void.
    if (origin.attempt > 1) this.send({ type: 'attempt-void' }, origin.attempt - 1);
  }

  readonly publish = (delta: DeltaBody): void => {
    if (!this.started) {
      this.started = true;
      this.send({ type: 'attempt-start' });
    }
    if (delta.type !== 'attempt-start') this.send(delta);
  };

  void(): void {
    if (this.started) this.send({ type: 'attempt-void' });
  }

  settle(): void {
    this.sink.settle(this.runId, this.origin.address);
  }

  private send(delta: DeltaBody, attempt = this.origin.attempt): void {
    // Readers see no work of an agent that is called as a tool without forwarding.
    if (isShown(this.origin.runPath)) this.sink.publish(this.runId, { ...delta, ...this.origin, attempt });
  }
}
