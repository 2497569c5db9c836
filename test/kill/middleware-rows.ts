import type { GenerateAnswer, GenerateRequest } from '../../activities/models';
import type { Json } from '../../contract/plain/messages';
import type { Count } from './middleware-tools';

interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: Json }[];
  /** The first call for this turn fails, or each one. */
  readonly fails?: 'once' | 'always';
}

/**
 * What a run with one middleware is asked and what its model says, turn by turn; the agent of the same name stands in
 * `middleware-agents.ts`. The worker is killed in the second turn, and behind that turn the run continues as new.
 */
export interface MiddlewareRow {
  readonly input?: string;
  readonly turns: readonly Said[];
  /** What other models say, by what stands behind the name of the row and a hyphen. Default: what the first one says. */
  readonly others?: Readonly<Record<string, Said>>;
  /** What people answer when the run asks them. */
  readonly answer?: Json;
  /** What a reader of the run sees that without the middleware nobody would. */
  readonly shows: RegExp;
}

const echo = (text: string): Said => ({ calls: [{ tool: 'echo', input: { text } }] });
const done: Said = { text: 'Done.' };

export const middlewareRows: Readonly<Record<string, MiddlewareRow>> = {
  modelCallLimit: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /The model was called 3 times in this run/ },
  toolCallLimit: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /The call of 'echo' did not run/ },
  budget: { turns: [echo('a'), echo('b'), echo('c'), done], answer: { tokens: 5000 }, shows: /How much more may it use/ },
  budgetCheaper: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /test\/budgetCheaper-small/ },
  pii: {
    input: 'I am bob@example.com',
    turns: [{ calls: [{ tool: 'contact', input: { name: 'ann' } }] }, echo('b'), echo('c'), { text: 'It came from 10.0.0.1.' }],
    shows: /I am \[email removed\].*\[email removed\], card \*\*\*\*-\*\*\*\*-\*\*\*\*-1111.*It came from \[IP address [0-9a-f]{12}\]/s,
  },
  modelRetry: { turns: [echo('a'), echo('b'), { ...echo('c'), fails: 'once' }, done], shows: /model-retry/ },
  modelRetryGivesUp: { turns: [echo('a'), echo('b'), { fails: 'always' }], shows: /Try again later/ },
  modelFallback: {
    turns: [echo('a'), echo('b'), { fails: 'always' }],
    others: { second: { text: 'Done by the second.' } },
    shows: /Done by the second/,
  },
  toolRetry: { turns: [echo('a'), echo('b'), { calls: [{ tool: 'flaky', input: { text: 'there' } }] }, done], shows: /"output": "there"/ },
  toolSelector: {
    turns: [echo('a'), echo('b'), echo('c'), done],
    others: { chooser: { text: '["echo", "contact"]' } },
    // Four calls, and the hidden one.
    shows: /"inputTokens": 2000/,
  },
  // That it asks less shows where the same request comes twice.
  responseCache: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /Done/ },
};

/** The turn in which the worker is killed, from 0. */
export const heldTurn = 1;

/** Which row a model belongs to, and which of its models it is. */
export function rowOf(model: string): { readonly row: string; readonly other: string | undefined } {
  const [row = '', other] = model.replace(/^.*\//, '').split('-');
  return { row, other };
}

export function turnOf({ messages }: GenerateRequest): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

/** What the model of that name answers. */
export async function answerOf(model: string, request: GenerateRequest, run: string, count: Count): Promise<GenerateAnswer> {
  const { row: name, other } = rowOf(model);
  const row = middlewareRows[name];
  const turn = turnOf(request);
  const said = (other === undefined ? undefined : row?.others?.[other]) ?? row?.turns[turn];
  if (said === undefined) throw new Error(`The row "${name}" says nothing in turn ${turn + 1}.`);
  if (said.fails === 'always' || (said.fails === 'once' && count(`${run}:${turn}`) === 1))
    throw Object.assign(new Error('down'), { isRetryable: true });
  const calls = (said.calls ?? []).map(({ tool, input }, position) => ({
    type: 'tool-call' as const,
    id: `call-${turn}-${position}`,
    name: tool,
    input,
  }));
  const texts = said.text === undefined ? [] : [{ type: 'text' as const, text: said.text }];
  return { parts: [...texts, ...calls], usage: { inputTokens: 400, outputTokens: 100 } };
}
