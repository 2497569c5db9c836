import type { AnswerOptions, HoldfastClient } from '../../client/index';
import type { MessageReceipt, SendOptions } from '../../client/conversation';
import type { Delta } from '../../contract/deltas';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import type { Json, Part } from '../../contract/messages/messages';

/** A chat of a page: the conversation of its id. */
export interface Chat {
  readonly id: string;
  /** Undefined: nobody has said anything. */
  view(): Promise<RunView | undefined>;
  send(content: string | readonly Part[], options: SendOptions): Promise<MessageReceipt>;
  answer(interruptId: string, answer: Json, who: AnswerOptions): Promise<void>;
  /** The log from an offset on, until the run waits or ends, and what calls say meanwhile. */
  events(from: number, signal: AbortSignal): AsyncGenerator<RunEvent | Delta>;
  /** From where on the log tells of a turn. */
  turnOffset(turn: number): Promise<number | undefined>;
}

export function chatOf(client: HoldfastClient, agent: string, id: string): Chat {
  const conversation = client.conversation(agent, id);
  const run = client.run(id);
  return {
    id,
    async view() {
      try {
        const view = await run.view();
        if (view.agent !== agent) throw new HoldfastError('run-id-in-use', `The chat "${id}" is with the agent "${view.agent}".`);
        if (view.conversation === undefined) throw new HoldfastError('not-a-conversation', `The run "${id}" is no conversation.`);
        return view;
      } catch (error) {
        if (codeOf(error) === 'run-unknown') return undefined;
        throw error;
      }
    },
    send: (content, options) => conversation.send(content, options),
    answer: (interruptId, answer, who) => run.resume(interruptId, answer, who),
    events: (from, signal) => run.events({ from, until: 'waiting', signal }),
    turnOffset: (turn) => conversation.turnOffset(turn),
  };
}
