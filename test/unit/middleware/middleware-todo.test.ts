import { todo, todosOf } from 'holdfast/middleware';
import type { ScriptedStep } from '../../../testing/index';
import { scriptedModel, testRun } from '../../../testing/index';
import { middlewareExamples, runExamples } from '../../support/document-examples';
import { agentUnder, logOf, tools } from '../../support/memory-bed';
import { errorOf } from '../../support/failures';

const { worker } = runExamples(middlewareExamples('todo'), require);

const list = [
  { content: 'Write the tests', activeForm: 'Writing the tests', status: 'completed' },
  { content: 'Run them', status: 'in_progress' },
];
const writes = (todos: unknown, name = 'write_todos'): ScriptedStep => ({ toolCalls: [{ name, input: { todos: todos as never } }] });

it('docs/reference/middleware/todo.md shows code that does what the page says, and answers with the list that it keeps', async () => {
  const run = await testRun(worker, { input: 'Hi', model: scriptedModel([writes(list), { text: 'Done.' }]) });
  expect(await run.result()).toBe('Done.');
  expect((await logOf(run)).filter(({ type }) => type === 'custom')).toMatchObject([{ name: 'progress', data: { left: 1 } }]);
  expect((await run.transcript())[2]?.parts[0]).toMatchObject({ output: `Updated todo list to ${JSON.stringify(list)}` });
});

describe('todo', () => {
  it('tells the model when to keep a list, in the language of the run, unless it is not to', async () => {
    const told = async (agent: ReturnType<typeof agentUnder>, language: 'en' | 'zh' = 'en'): Promise<string | undefined> => {
      const model = scriptedModel([{ text: 'Done.' }]);
      await (await testRun(agent, { input: 'Hi', model, tools, language })).outcome();
      return model.requests[0]?.instructions;
    };
    expect(await told(agentUnder(todo()))).toMatch(/^Be a test\.\n\nFor work of three steps or more keep a list with write_todos/);
    expect(await told(agentUnder(todo()), 'zh')).toMatch(/^Be a test\.\n\n任务有三步或更多时,用 write_todos/);
    expect(await told(agentUnder(todo({ systemPrompt: '' })))).toBe('Be a test.');
  });

  it('keeps the list for this agent alone where it is told to, under another name', async () => {
    const looking = {
      name: 'looking',
      afterToolCalls: (_: unknown, ctx: Parameters<typeof todosOf>[0] & { sendEvent(name: string, data: never): void }) =>
        ctx.sendEvent('lists', [todosOf(ctx), todosOf(ctx, 'runLocal'), todosOf(ctx, 'session')] as never),
    };
    const agent = agentUnder(todo({ keptIn: 'runLocal', toolName: 'plan' }), looking);
    const run = await testRun(agent, { input: 'Hi', model: scriptedModel([writes(list, 'plan'), { text: 'Done.' }]), tools });
    expect(await run.result()).toBe('Done.');
    expect((await logOf(run)).filter(({ type }) => type === 'custom')).toMatchObject([{ data: [list, list, []] }]);
  });

  it('hands a list that is none back to the model', async () => {
    const run = await testRun(worker, {
      input: 'Hi',
      model: scriptedModel([writes([{ content: 'x', status: 'done' }]), { text: 'Done.' }]),
    });
    expect(await run.result()).toBe('Done.');
    expect((await run.transcript())[2]?.parts[0]).toMatchObject({
      isError: true,
      output: expect.stringContaining('todos.0.status is none of'),
    });
  });

  it.each([
    [{ toolName: 'two words' }, /todo: toolName must be a name/],
    [{ keptIn: 'file' }, 'todo: keptIn must be "session" or "runLocal". It is "file".'],
    [{ prompt: '' }, 'todo: there is no option "prompt"; there are toolName, description, systemPrompt, keptIn.'],
  ])('refuses the options %j', (options, message) => {
    expect(() => todo(options as never)).toThrow(errorOf('agent-invalid', expect.stringMatching(message)));
  });
});
