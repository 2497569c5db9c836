import { CancellationScope } from '@temporalio/workflow';

/** Holds a run that may be about to go on elsewhere: what waits here begins when it goes on here after all, and never if it does not. */
export class Hold {
  private on = false;
  private readonly ended = new CancellationScope();
  private resume: () => void = () => undefined;
  private resumed = new Promise<void>((resolve) => (this.resume = resolve));

  get isOn(): boolean {
    return this.on;
  }

  /** Nothing new starts from now on. */
  begin(): void {
    this.on = true;
  }

  /** The run goes on here. */
  goOn(): void {
    this.on = false;
    const { resume } = this;
    this.resumed = new Promise((resolve) => (this.resume = resolve));
    resume();
  }

  /** Ends all that waits here as cancelled, so that a cancelled run can end. */
  end(): void {
    this.ended.cancel();
  }

  /** Settles when the run is held no more. */
  async over(): Promise<void> {
    while (this.on) await this.nextGoingOn();
  }

  /** Settles when the run goes on here the next time. */
  nextGoingOn(): Promise<void> {
    return Promise.race([this.never(), this.resumed]);
  }

  never(): Promise<never> {
    return this.ended.run(() => this.ended.cancelRequested);
  }
}
