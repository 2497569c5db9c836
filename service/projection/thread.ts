import type { AnswerOptions, Conversation, HoldfastClient, Run } from '../../client/index';
import type { SendOptions } from '../../client/conversation';
import type { MessageReceipt } from '../../contract/service';
import type { MessageFate } from '../../client/message-fate';
import type { ConversationOptions } from '../../client/conversation-options';
import type { Delta } from '../../contract/deltas';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json, Part } from '../../contract/messages/messages';

export interface ThreadEventsOptions {
  readonly from: number;
  readonly until: 'end' | 'waiting';
  readonly signal: AbortSignal;
}

/** What a client of any protocol goes on with by one id: a conversation with an agent. */
export interface Thread {
  readonly id: string;
  /** Undefined: nobody has said anything. */
  view(): Promise<RunView | undefined>;
  send(content: string | readonly Part[], options: SendOptions): Promise<MessageReceipt>;
  answer(interruptId: string, answer: Json, who: AnswerOptions): Promise<void>;
  /** The log from an offset on, and what calls say meanwhile. */
  events(options: ThreadEventsOptions): AsyncGenerator<RunEvent | Delta>;
  /** From where on the log tells of a turn. */
  turnOffset(turn: number): Promise<number | undefined>;
  /** What became of a message. Undefined: it waits, or nobody sent it. */
  fateOf(message: string): Promise<MessageFate | undefined>;
  /** Takes a message back that waits for its turn. */
  withdraw(message: string): Promise<void>;
  /** Stops the turn at work, also one that waits for people. */
  stop(who?: Pick<AnswerOptions, 'by'>): Promise<void>;
}

interface GivenAnswer {
  readonly interruptId: string;
  readonly answer: Json;
  readonly by?: string;
}

/** How long the log may take to say which answer counts. */
const patienceMs = 2000;

/** Whether the answer that counts is the same, of the same person: somebody has sent it twice at once. */
async function counts(
  conversation: Pick<Conversation, 'turnOffset'>,
  run: Pick<Run, 'view' | 'events'>,
  { interruptId, answer, by }: GivenAnswer,
): Promise<boolean> {
  const { conversation: stands } = await run.view();
  const from = stands === undefined ? undefined : await conversation.turnOffset(stands.turn);
  if (from === undefined) return false;
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(patienceMs)]);
  try {
    for await (const event of run.events({ from, until: 'end', signal })) {
      if (event.offset === undefined || event.type !== 'interrupt-end' || event.interruptId !== interruptId) continue;
      return event.reason === 'answer' && event.by === by && canonicalJson(event.answer) === canonicalJson(answer);
    }
    return false;
  } finally {
    over.abort();
  }
}

/** `start`: what the first message begins it with. */
export function threadOf(client: HoldfastClient, agent: string, id: string, start: ConversationOptions = {}): Thread {
  const conversation = client.conversation(agent, id, start);
  const run = client.run(id);
  return {
    id,
    async view() {
      try {
        const view = await run.view();
        if (view.agent !== agent)
          throw new HoldfastError('run-id-in-use', `The conversation "${id}" is of the agent "${view.agent}", and not of "${agent}".`);
        if (view.conversation === undefined) throw new HoldfastError('not-a-conversation', `The run "${id}" is no conversation.`);
        return view;
      } catch (error) {
        if (codeOf(error) === 'run-unknown') return undefined;
        throw error;
      }
    },
    send: (content, options) => conversation.send(content, options),
    async answer(interruptId, answer, who) {
      try {
        await run.resume(interruptId, answer, who);
      } catch (error) {
        const given: GivenAnswer = { interruptId, answer, ...defined({ by: who.by }) };
        if (codeOf(error) !== 'interrupt-answered' || !(await counts(conversation, run, given))) throw error;
      }
    },
    events: (options) => run.events(options),
    turnOffset: (turn) => conversation.turnOffset(turn),
    fateOf: (message) => conversation.fateOf(message),
    withdraw: (message) => conversation.withdraw(message),
    stop: ({ by } = {}) => conversation.stop(defined({ by })),
  };
}
