import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { StoredMessage } from '../../contract/messages/messages';
import type { Frame } from '../effects/frames';
import { LivelockGuard } from './livelock-guard';

export class ContextLifetime {
  answer: StoredMessage | undefined;
  private asked = 0;
  private over: boolean | undefined;
  private readonly pace: LivelockGuard;

  constructor(
    pace: LivelockGuard,
    private readonly agent: string,
  ) {
    this.pace = new LivelockGuard(() => pace.now);
  }

  /** A promise that code drops must not fail the workflow task. */
  keep<T>(promise: Promise<T>): Promise<T> {
    this.asked += 1;
    const settled = (): void => void (this.asked -= 1);
    promise.then(settled, settled);
    return promise;
  }

  letGo(): void {
    this.asked -= 1;
  }

  /** Background code that still waits may go on. */
  end(): void {
    this.over ??= this.asked === 0;
  }

  refusalOf(what: string, frame: Frame): HoldfastError | undefined {
    if (this.over !== true) return undefined;
    frame.refusals += 1;
    return new HoldfastError(
      'outside-run',
      `${what} failed: it was called through the ctx of agent "${this.agent}", which has ended. Code acts through the ctx that it was called with.`,
    );
  }

  event(): void {
    if (this.pace.step() > limits.eventsInARow)
      throw new HoldfastError(
        'agent-endless',
        `Agent "${this.agent}" made ${limits.eventsInARow} events, and nothing came back to the run between them: no call, timer or answer.`,
      );
  }
}
