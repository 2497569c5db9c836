import { taskTools } from 'holdfast/worker';
import { planTask, tasksOf } from 'holdfast/middleware';
import type { ScriptedStep } from '../../../testing/index';
import { scriptedModel, testRun } from '../../../testing/index';
import { memoryBackend } from '../../../middleware/filesystem/worker/memory-backend';
import { middlewareExamples, runExamples } from '../../support/document-examples';
import { agentUnder, answerAnew, logOf, startRun, tools } from '../../support/memory-bed';
import { execute } from '../../support/tool-bed';

const { planner, sharedTasks } = runExamples(middlewareExamples('plan-task'), require);

const created = (...subjects: readonly string[]): ScriptedStep => ({
  toolCalls: subjects.map((subject) => ({ name: 'TaskCreate', input: { subject, description: '' } })),
});

it('docs/reference/middleware/plan-task.md shows code that does what the page says', async () => {
  expect(Object.keys(sharedTasks)).toEqual(['TaskCreate', 'TaskGet', 'TaskUpdate', 'TaskList']);
  const model = scriptedModel([created('Write'), { text: 'Done.' }]);
  expect(await (await testRun(planner, { input: 'Hi', model })).result()).toBe('Done.');
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(Object.keys(sharedTasks));
});

describe('planTask', () => {
  it('gives calls at once numbers of their own, and shows the tasks to hooks, also behind a continue-as-new', async () => {
    const agent = agentUnder(planTask(), {
      name: 'looking',
      async afterToolCalls(_, ctx) {
        await ctx.interrupt('Go on?');
        ctx.sendEvent(
          'tasks',
          tasksOf(ctx).map(({ id, subject }) => `${id} ${subject}`),
        );
      },
    });
    const run = await startRun(agent, [created('a', 'b', 'c'), { text: 'Done.' }]);
    await answerAnew(run);
    expect(await run.result()).toBe('Done.');
    expect((await logOf(run)).filter(({ type }) => type === 'custom')).toMatchObject([{ data: ['1 a', '2 b', '3 c'] }]);
  });

  it('refuses arguments that are none', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'TaskUpdate', input: { taskId: '1', status: 'done' } }] }, { text: 'Done.' }]);
    const run = await testRun(planner, { input: 'Hi', model });
    expect(await run.result()).toBe('Done.');
    expect((await run.transcript())[2]?.parts[0]).toMatchObject({ isError: true, output: expect.stringContaining('status is none of') });
  });

  it.each([
    [{ keptIn: 'file' }, 'planTask: keptIn must be "run" or "worker". It is "file".'],
    [{ kept: 1 }, 'planTask: there is no option "kept"; did you mean keptIn?'],
  ])('refuses the options %j', (options, message) => {
    expect(() => planTask(options as never)).toThrow(expect.objectContaining({ code: 'agent-invalid', message }));
  });
});

describe('tasks in files', () => {
  it('are made once, also when the call is made again', async () => {
    const backend = memoryBackend();
    const { TaskCreate } = taskTools({ backend, baseDir: '/tasks' });
    const input = { subject: 'Write', description: '' };
    for (const attempt of [1, 2])
      expect((await execute(TaskCreate, { input, attempt })).outcome).toMatchObject({ output: 'Task #1 created successfully: Write' });
    expect(Object.keys(backend.files)).toEqual(['/tasks/.highwatermark', '/tasks/1.json']);
  });

  it('are changed one after another by calls at once, and broken ones are named', async () => {
    const backend = memoryBackend();
    const { TaskList } = taskTools({ backend, baseDir: '/tasks' });
    const run = await startRun(agentUnder(planTask({ keptIn: 'worker' })), [created('a', 'b', 'c'), { text: 'Done.' }], {
      tools: { ...tools, ...taskTools({ backend, baseDir: '/tasks' }) },
    });
    expect(await run.result()).toBe('Done.');
    expect(Object.keys(backend.files)).toEqual(['/tasks/.highwatermark', '/tasks/1.json', '/tasks/2.json', '/tasks/3.json']);
    await backend.write('/tasks/2.json', '{');
    expect((await execute(TaskList)).outcome).toMatchObject({ error: { message: expect.stringContaining('/tasks/2.json holds no task') } });
  });

  it.each([
    [{}, 'taskTools: backend must be a backend, such as directoryBackend("./files"). It is missing.'],
    [{ backend: memoryBackend() }, 'taskTools: baseDir must be the path of a folder, such as "/tasks". It is missing.'],
  ])('refuse the options %j', (options, message) => {
    expect(() => taskTools(options as never)).toThrow(expect.objectContaining({ code: 'config-invalid', message }));
  });
});
