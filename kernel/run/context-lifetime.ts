import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { StoredMessage } from '../../contract/messages/messages';
import type { Frame } from '../effects/frames';
import { LivelockGuard } from './livelock-guard';
import type { RunScope } from './scope';

/** Whether an agent is at work, as whoever acts through its `ctx` is told. */
export class ContextLifetime {
  /** The result of a tool with which the agent ends. */
  answer: StoredMessage | undefined;
  private asked = 0;
  private over: boolean | undefined;
  private readonly pace: LivelockGuard;

  constructor(
    { pace }: RunScope,
    private readonly agent: string,
  ) {
    this.pace = new LivelockGuard(() => pace.now);
  }

  /** Something that code of the agent waits for. Code may drop the promise without bringing down the workflow task. */
  keep<T>(promise: Promise<T>): Promise<T> {
    this.asked += 1;
    const settled = (): void => void (this.asked -= 1);
    promise.then(settled, settled);
    return promise;
  }

  /** It waits for one of these no more: that ended with its frame. */
  letGo(): void {
    this.asked -= 1;
  }

  /** The agent has ended. Code of it that still waits for something was left at work in the background, and may go on. */
  end(): void {
    this.over ??= this.asked === 0;
  }

  /** Why nothing can be done for the agent any more, or nothing. */
  refusalOf(what: string, frame: Frame): HoldfastError | undefined {
    if (this.over !== true) return undefined;
    frame.refusals += 1;
    return new HoldfastError(
      'outside-run',
      `${what} failed: it was called through the ctx of agent "${this.agent}", which has ended. Code acts through the ctx that it was called with.`,
    );
  }

  /** Counts the events that its code makes. */
  event(): void {
    if (this.pace.step() > limits.eventsInARow)
      throw new HoldfastError(
        'agent-endless',
        `Agent "${this.agent}" made ${limits.eventsInARow} events, and nothing came back to the run between them: no call, timer or answer.`,
      );
  }
}
