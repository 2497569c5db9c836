import type { GenerateAnswer, GenerateRequest } from '../../activities/models/models';
import type { Json } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import type { Count } from './middleware-tools';

interface Said {
  readonly text?: string | ((request: GenerateRequest, model: string) => string);
  readonly calls?: readonly { readonly tool: string; readonly input: Json }[];
  /** The first call for this turn fails, or each one. */
  readonly fails?: 'once' | 'always';
}

/**
 * What a run with one middleware is asked and what its model says, turn by turn; the agent of the same name stands in
 * `middleware-agents.ts`. The worker is killed in the second turn, and behind that turn the run continues as new.
 */
export interface MiddlewareRow {
  readonly input?: Json;
  readonly turns: readonly Said[];
  /** What other models say, by what stands behind the name of the row and a hyphen. Default: what the first one says. */
  readonly others?: Readonly<Record<string, Said>>;
  /** Which of its models is held in the second turn. Default: the first one. */
  readonly held?: string;
  /** What people answer when the run asks them. */
  readonly answer?: Json;
  /** They do so before the worker is killed, or the run waits for them when it is. Default: whenever it asks. */
  readonly asks?: 'before' | 'while';
  /** What a reader of the run sees that without the middleware nobody would. */
  readonly shows: RegExp;
}

const call = (tool: string, input: Json): Said => ({ calls: [{ tool, input }] });
const echo = (text: string): Said => call('echo', { text });
const done: Said = { text: 'Done.' };
const toldOf = (what: RegExp): Said => ({
  text: ({ messages }) => `I was told ${messages.filter((message) => what.test(textOf(message))).length} times.`,
});

export const middlewareRows: Readonly<Record<string, MiddlewareRow>> = {
  modelCallLimit: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /The model was called 3 times in this run/ },
  toolCallLimit: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /The call of 'echo' did not run/ },
  budget: { turns: [echo('a'), echo('b'), echo('c'), done], answer: { tokens: 5000 }, shows: /How much more may it use/ },
  budgetCheaper: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /test\/budgetCheaper-small/ },
  pii: {
    input: 'I am bob@example.com',
    turns: [call('contact', { name: 'ann' }), echo('b'), echo('c'), { text: 'It came from 10.0.0.1.' }],
    shows: /I am \[email removed\].*\[email removed\], card \*\*\*\*-\*\*\*\*-\*\*\*\*-1111.*It came from \[IP address [0-9a-f]{12}\]/s,
  },
  modelRetry: { turns: [echo('a'), echo('b'), { ...echo('c'), fails: 'once' }, done], shows: /model-retry/ },
  modelRetryGivesUp: { turns: [echo('a'), echo('b'), { fails: 'always' }], shows: /Try again later/ },
  modelFallback: {
    turns: [echo('a'), echo('b'), { fails: 'always' }],
    others: { second: { text: 'Done by the second.' } },
    shows: /Done by the second/,
  },
  toolRetry: { turns: [echo('a'), echo('b'), call('flaky', { text: 'there' }), done], shows: /"output": "there"/ },
  toolSelector: {
    turns: [echo('a'), echo('b'), echo('c'), done],
    others: { chooser: { text: '["echo", "contact"]' } },
    // Four calls, and the hidden one.
    shows: /"inputTokens": 2000/,
  },
  // That it asks less shows where the same request comes twice.
  responseCache: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /Done/ },
  // Put in again from what the run keeps: the file is read once.
  agentsMd: { turns: [echo('a'), echo('b'), toldOf(/Be kind/)], shows: /"output": "I was told 1 times\."/ },
  filesystem: {
    turns: [
      call('write_file', { file_path: '/notes.txt', content: 'one' }),
      call('edit_file', { file_path: '/notes.txt', old_string: 'one', new_string: 'two' }),
      {
        calls: [
          { tool: 'execute', input: { command: 'cat notes.txt' } },
          { tool: 'read_file', input: { file_path: '/notes.txt' } },
        ],
      },
      done,
    ],
    shows: /"output": "two.*1\\ttwo/s,
  },
  toolSearch: {
    turns: [
      call('tool_search', { query: 'select:contact' }),
      call('contact', { name: 'ann' }),
      { text: ({ tools }) => `I have ${tools.map(({ name }) => name).join(', ')}.` },
    ],
    shows: /ann@example\.com.*"output": "I have echo, tool_search, contact\."/s,
  },
  planTask: {
    turns: [
      { calls: ['Plan', 'Write'].map((subject) => ({ tool: 'TaskCreate', input: { subject, description: 'Soon.' } })) },
      call('TaskUpdate', { taskId: '1', addBlocks: ['2'], status: 'in_progress' }),
      call('TaskList', {}),
      done,
    ],
    shows: /#1 \[in_progress\] Plan\\n#2 \[pending\] Write \[blocked by #1\]/,
  },
  planTaskInFiles: {
    turns: [
      call('TaskCreate', { subject: 'Plan', description: 'Soon.' }),
      call('TaskCreate', { subject: 'Write', description: 'Later.' }),
      call('TaskList', {}),
      done,
    ],
    shows: /#1 \[pending\] Plan\\n#2 \[pending\] Write/,
  },
  todo: {
    turns: [call('write_todos', { todos: [{ content: 'Dig', status: 'in_progress' }] }), echo('b'), done],
    shows: /"name": "todos",\s+"data": \[\s+\{\s+"content": "Dig"/,
  },
  skill: {
    turns: [call('skill', { skill: 'deep' }), echo('b'), { text: (_, model) => `Said by ${model}.` }],
    held: 'strong',
    shows: /Launching skill: deep.*"output": "Said by skill-strong\."/s,
  },
  approval: {
    turns: [call('contact', { name: 'ann' }), echo('b'), call('contact', { name: 'ben' }), done],
    answer: { type: 'approve', forRestOfRun: true },
    asks: 'before',
    // Waived, and so asked once.
    shows: /^(?!.*interrupt-start.*interrupt-start).*ben@example\.com/s,
  },
  approvalWaiting: {
    turns: [call('contact', { name: 'ann' }), echo('b'), done],
    answer: { type: 'approve', editedInput: { name: 'eve' } },
    asks: 'while',
    shows: /"output": "A person changed the arguments of this call [^\n]*eve@example\.com/,
  },
  patchToolCalls: {
    input: [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'lost', name: 'echo', input: { text: 'x' } }] },
      { role: 'user', parts: [{ type: 'text', text: 'Never mind.' }] },
    ],
    turns: [done, echo('b'), done],
    shows: /Tool call echo with id lost was canceled/,
  },
  contextEditing: { turns: [echo('a'), echo('b'), done], shows: /\[cleared\]/ },
  reduction: {
    turns: [echo('long '.repeat(50)), echo('b'), done],
    shows: /clear\/call-0-0.*Output too large.*trunc\/call-0-0/s,
  },
  summarization: {
    turns: [echo('a'), echo('b'), toldOf(/So far 2 turns/)],
    others: { summary: { text: (request) => `So far ${turnOf(request)} turns.` } },
    shows: /"output": "I was told 1 times\."/,
  },
  dynamicPrompt: {
    turns: [echo('a'), echo('b'), { text: ({ instructions }) => `I follow: ${instructions}` }],
    shows: /"output": "I follow: Turn 3\."/,
  },
};

/** The isolated agents of `desks`: one is in a call of its model, one in that of a tool, one waits for a person. */
export const deskRows: Readonly<Record<string, Pick<MiddlewareRow, 'turns' | 'others' | 'held'>>> = {
  deskAsks: { turns: [{ text: 'I asked.' }] },
  deskThinks: { turns: [echo('a'), echo('b'), { text: 'I thought.' }] },
  deskFiles: { turns: [call('file', { note: 'n' }), { text: 'I filed.' }], held: 'nobody' },
};

/** The turn in which the worker is killed, from 0. */
export const heldTurn = 1;

/** Which row a model belongs to, and which of its models it is. */
function rowOf(model: string): { readonly row: string; readonly other: string | undefined } {
  const [row = '', other] = model.replace(/^.*\//, '').split('-');
  return { row, other };
}

/** Messages that a summary took away count by what it says of them. */
export function turnOf({ messages }: GenerateRequest): number {
  const summed = messages.map((message) => /So far (\d+) turns/.exec(textOf(message))?.[1]);
  const before = summed.find((turns) => turns !== undefined) ?? '0';
  return Number(before) + messages.filter(({ role }) => role === 'assistant').length;
}

/** The row whose worker is killed in this call. */
export function heldIn(model: string, request: GenerateRequest): string | undefined {
  const { row: name, other } = rowOf(model);
  const row = middlewareRows[name] ?? deskRows[name];
  return turnOf(request) === heldTurn && other === row?.held ? name : undefined;
}

/** What the model of that name answers. */
export async function answerOf(model: string, request: GenerateRequest, run: string, count: Count): Promise<GenerateAnswer> {
  const { row: name, other } = rowOf(model);
  const row = middlewareRows[name] ?? deskRows[name];
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
  const text = typeof said.text === 'function' ? said.text(request, model.replace(/^.*\//, '')) : said.text;
  return {
    parts: [...(text === undefined ? [] : [{ type: 'text' as const, text }]), ...calls],
    usage: { inputTokens: 400, outputTokens: 100 },
  };
}
