import type { SendOptions, MessageReceipt } from '../../client/conversation';
import type { HoldfastClient } from '../../client/index';
import type { Delta } from '../../contract/deltas';
import { codeOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import type { Part } from '../../contract/messages/messages';
import type { GivenAnswer } from './interrupts';

export interface ThreadEventsOptions {
  readonly from: number;
  readonly until: 'end' | 'waiting';
  readonly signal: AbortSignal;
}

/** A thread of AG-UI: the conversation of its id. */
export interface Thread {
  readonly id: string;
  send(content: string | readonly Part[], options: SendOptions): Promise<MessageReceipt>;
  /** Undefined: nobody has said anything. */
  view(): Promise<RunView | undefined>;
  events(options: ThreadEventsOptions): AsyncGenerator<RunEvent | Delta>;
  answer(interruptId: string, answer: GivenAnswer): Promise<void>;
  /** Stops the turn at work. */
  stop(): Promise<void>;
}

export function threadOf(client: HoldfastClient, agent: string, id: string): Thread {
  const conversation = client.conversation(agent, id);
  const run = client.run(id);
  return {
    id,
    send: (content, options) => conversation.send(content, options),
    async view() {
      try {
        return await run.view();
      } catch (error) {
        if (codeOf(error) === 'run-unknown') return undefined;
        throw error;
      }
    },
    events: (options) => run.events(options),
    answer: (interruptId, { answer, ...who }) => run.resume(interruptId, answer, who),
    stop: () => conversation.stop(),
  };
}
