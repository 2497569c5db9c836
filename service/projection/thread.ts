import type { AnswerOptions, Conversation, HoldfastClient, Run } from '../../client/index';
import type { ConversationOptions } from '../../client/conversations/conversation-options';
import type { ReadOptions } from '../../client/reading/follower';
import type { Delta } from '../../contract/deltas';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json } from '../../contract/messages/messages';

export interface Thread extends Pick<Conversation, 'id' | 'send' | 'turnOffset' | 'fateOf' | 'withdraw' | 'stop'> {
  /** Undefined: the conversation has no message yet. */
  view(): Promise<RunView | undefined>;
  answer(interruptId: string, answer: Json, who: AnswerOptions): Promise<void>;
  events(options: Required<Pick<ReadOptions, 'from' | 'until' | 'signal'>>): AsyncGenerator<RunEvent | Delta>;
}

interface GivenAnswer {
  readonly interruptId: string;
  readonly answer: Json;
  readonly by?: string;
}

/** Longest idle time of a conversation with an id from the service. OpenAI keeps responses as long. */
export const keptFor = '30d';

/** Longest wait of `counts` for the interrupt's end in the log. */
const patienceMs = 2000;

/** Accepts the same answer of the same person in a simultaneous request. */
async function counts(
  conversation: Pick<Conversation, 'turnOffset'>,
  run: Pick<Run, 'view' | 'events'>,
  { interruptId, answer, by }: GivenAnswer,
): Promise<boolean> {
  const view = await run.view();
  const from = view.conversation === undefined ? undefined : await conversation.turnOffset(view.conversation.turn);
  if (from === undefined) return false;
  for await (const event of run.events({ from, until: 'end', signal: AbortSignal.timeout(patienceMs) })) {
    if (event.type !== 'interrupt-end' || event.interruptId !== interruptId) continue;
    return event.reason === 'answer' && event.by === by && canonicalJson(event.answer) === canonicalJson(answer);
  }
  return false;
}

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
    withdraw: (message, options) => conversation.withdraw(message, options),
    stop: ({ by } = {}) => conversation.stop(defined({ by })),
  };
}
