import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import type { Json } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import type { Count } from './middleware-tools';

interface Said {
  readonly text?: string | ((request: GenerateRequest, model: string) => string);
  readonly calls?: readonly { readonly tool: string; readonly input: Json }[];
  readonly fails?: 'once' | 'always';
}

/**
 * Input and model texts of a run with one middleware, by turn; `middleware-agents.ts` has the agent of the same name. The worker is killed
 * in the second turn, and the run continues as new after the turn.
 */
export interface MiddlewareRow {
  readonly input?: Json;
  readonly turns: readonly Said[];
  /** Texts of further models, by the suffix after the row's name and a hyphen. Default: the first model's texts. */
  readonly others?: Readonly<Record<string, Said>>;
  /** The model held in the second turn. Default: the first model. */
  readonly held?: string;
  readonly answer?: Json;
  /** `before`: people answer before the kill. `while`: the run waits for an answer during the kill. Default: any time. */
  readonly asks?: 'before' | 'while';
  /** Trace of the middleware that readers see. */
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
    shows: /"inputTokens": 2000/,
  },
  // Equal requests come twice, so that the cache shows.
  responseCache: { turns: [echo('a'), echo('b'), echo('c'), done], shows: /Done/ },
  // The run keeps the file's text, so the file is read once.
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

/** Isolated agents of `desks`: the first in a model call, the second in a tool call, the third waiting for a person. */
export const deskRows: Readonly<Record<string, Pick<MiddlewareRow, 'turns' | 'others' | 'held'>>> = {
  deskAsks: { turns: [{ text: 'I asked.' }] },
  deskThinks: { turns: [echo('a'), echo('b'), { text: 'I thought.' }] },
  deskFiles: { turns: [call('file', { note: 'n' }), { text: 'I filed.' }], held: 'nobody' },
};

export const heldTurn = 1;

function rowOf(model: string): { readonly row: string; readonly other: string | undefined } {
  const [row = '', other] = model.replace(/^.*\//, '').split('-');
  return { row, other };
}

/** A summary counts as the number of messages that the summary replaced. */
export function turnOf({ messages }: GenerateRequest): number {
  const summed = messages.map((message) => /So far (\d+) turns/.exec(textOf(message))?.[1]);
  const before = summed.find((turns) => turns !== undefined) ?? '0';
  return Number(before) + messages.filter(({ role }) => role === 'assistant').length;
}

export function heldIn(model: string, request: GenerateRequest): string | undefined {
  const { row: name, other } = rowOf(model);
  const row = middlewareRows[name] ?? deskRows[name];
  return turnOf(request) === heldTurn && other === row?.held ? name : undefined;
}

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
