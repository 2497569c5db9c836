import { createHash } from 'node:crypto';
import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware, WorkflowTool } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { sha256 } from '../../../contract/sha256';
import { agentWith, logOf, tools } from '../../support/memory-bed';

const note: WorkflowTool = {
  name: 'note',
  description: 'Keeps a note.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  execute(input, ctx) {
    const { text } = input as { text: string };
    const notes = [...((ctx.session.get('notes') ?? []) as string[]), text];
    ctx.session.set('notes', notes);
    return `${notes.length} notes.`;
  },
};
const withNotes: AgentMiddleware = { name: 'notes', tools: [note] };
const call = (text: unknown): ScriptedStep => ({ toolCalls: [{ name: 'note', input: { text: text as string } }] });

async function play(options: Parameters<typeof agentWith>[0], ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const run = await testRun(agentWith(options), { input: 'Go.', model, tools });
  return { model, run, outcome: await run.outcome() };
}

describe('a tool that the run itself answers', () => {
  it('is offered with its description and schema, beside those of the agent', async () => {
    const { model } = await play({ middleware: [withNotes] }, { text: 'Done.' });
    expect(model.requests[0]?.tools.at(-1)).toEqual({ name: 'note', description: 'Keeps a note.', inputSchema: note.inputSchema });
  });

  it('is answered without a worker, with a start and an end in the log', async () => {
    const { run, model, outcome } = await play({ middleware: [withNotes] }, call('milk'), call('eggs'), { text: 'Done.' });
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(model.requests[2]?.messages.at(-1)?.parts).toMatchObject([{ type: 'tool-result', output: '2 notes.' }]);
    const events = (await logOf(run)).filter(({ type }) => type === 'tool-start' || type === 'tool-end');
    expect(events.map(({ type }) => type)).toEqual(['tool-start', 'tool-end', 'tool-start', 'tool-end']);
    expect(events[0]).toMatchObject({
      tool: 'note',
      input: { text: 'milk' },
      address: events[1] && 'address' in events[1] ? events[1].address : '',
    });
  });

  it('may stand in the list of an agent', async () => {
    const { model } = await play({ tools: ['echo', note] }, call('milk'), { text: 'Done.' });
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['echo', 'note']);
    expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([{ output: '1 notes.' }]);
  });

  it('gives arguments that do not fit back to the model', async () => {
    const { model } = await play({ middleware: [withNotes] }, call(7), { text: 'Sorry.' });
    expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([
      { isError: true, output: "The arguments of 'note' do not fit: text is no string." },
    ]);
  });

  it('gives what it throws back to the model, and a result that is not JSON too', async () => {
    const broken: WorkflowTool = {
      ...note,
      execute: (input) => {
        if ((input as { text: string }).text === 'throw') throw new Error('No room.');
        return undefined as never;
      },
    };
    const { model } = await play({ tools: [broken] }, call('throw'), call('nothing'), { text: 'Sorry.' });
    expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([{ isError: true, output: "The tool 'note' failed: No room." }]);
    expect(model.requests[2]?.messages.at(-1)?.parts).toMatchObject([
      { isError: true, output: "The tool 'note' returned something that is not JSON: it is undefined." },
    ]);
  });

  it('is held by an approval like any other, and may ask a human itself', async () => {
    const asking: WorkflowTool = { ...note, execute: async (_, ctx) => ctx.interrupt<string>('Which shelf?') };
    const model = scriptedModel([call('milk'), { text: 'Done.' }]);
    const agent = agentWith({ tools: [asking], middleware: [approval({ tools: { note: true } })] });
    const run = await testRun(agent, { input: 'Go.', model, tools });
    const [held] = await run.interrupts();
    expect(held).toMatchObject({ kind: 'approval', tool: 'note', input: { text: 'milk' } });
    await run.approve(held?.id ?? '');
    await run.goOnAsNew();
    const [question] = await run.interrupts();
    expect(question).toMatchObject({ kind: 'question', info: 'Which shelf?' });
    await run.resume(question?.id ?? '', 'the upper one');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([{ output: 'the upper one' }]);
    const starts = (await logOf(run)).filter(({ type }) => type === 'tool-start');
    expect(starts).toHaveLength(1);
  });

  it.each([
    ['no name', { ...note, name: 'a b' }, 'the workflow tool "a b": name must be a name'],
    ['no description', { ...note, description: undefined }, 'the workflow tool "note": description must be a string. It is missing.'],
    ['no schema', { ...note, inputSchema: 'object' }, 'inputSchema must be a JSON Schema of an object, such as'],
    ['a schema that points to nothing', { ...note, inputSchema: { $ref: '#nope' } }, 'inputSchema must be a JSON Schema: it has a $ref to'],
    [
      'a schema of an unknown type',
      { ...note, inputSchema: { type: 'objekt' } },
      'inputSchema must be a JSON Schema: it has a type "objekt"',
    ],
    ['nothing to execute', { ...note, execute: undefined }, 'the workflow tool "note": execute must be a function. It is missing.'],
    ['no tool at all', null, 'tools must be an array of tool names, possibly empty. It is [null].'],
  ])('with %s defines no agent', (_, tool, problem) => {
    expect(() => agentWith({ tools: [tool as WorkflowTool] })).toThrow(problem);
  });

  it('of one name with another tool defines no agent', () => {
    expect(() => agentWith({ tools: [note], middleware: [withNotes] })).toThrow('two tools are named "note"');
    expect(() => agentWith({ tools: ['note'], middleware: [withNotes] })).toThrow('has one of this name already');
  });
});

it('the hash of arguments in the run is the one that Node makes', () => {
  for (const text of ['', 'abc', 'ä€😀'.repeat(40), 'x'.repeat(55), 'x'.repeat(56), 'x'.repeat(64), 'y'.repeat(10_000)])
    expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
});
