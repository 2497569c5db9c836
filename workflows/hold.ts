import { CancellationScope } from '@temporalio/workflow';

/** If the run continues as new, code that waits here never goes on. */
export class Hold {
  private on = false;
  private readonly ended = new CancellationScope();
  private resume: () => void = () => undefined;
  private resumed = new Promise<void>((resolve) => (this.resume = resolve));

  get isOn(): boolean {
    return this.on;
  }

  begin(): void {
    this.on = true;
  }

  goOn(): void {
    this.on = false;
    const { resume } = this;
    this.resumed = new Promise((resolve) => (this.resume = resolve));
    resume();
  }

  /** Ends all waits as cancelled, so a cancelled run can end. */
  end(): void {
    this.ended.cancel();
  }

  async over(): Promise<void> {
    while (this.on) await this.nextGoingOn();
  }

  nextGoingOn(): Promise<void> {
    return Promise.race([this.never(), this.resumed]);
  }

  never(): Promise<never> {
    return this.ended.run(() => this.ended.cancelRequested);
  }
}
