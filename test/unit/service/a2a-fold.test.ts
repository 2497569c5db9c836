import type { Delta } from '../../../contract/deltas';
import type { RunEvent, RunView } from '../../../contract/events';
import type { Json, Part } from '../../../contract/messages/messages';
import { TaskFold } from '../../../service/a2a/task-fold';
import type { A2aUpdate } from '../../../service/a2a/wire';

const agent = { agent: 'a', runPath: ['a'] };
const usage = { inputTokens: 1, outputTokens: 1 };
let offset = 0;
const event = (body: object): RunEvent => ({ ...body, offset: offset++, time: 1000 + offset }) as RunEvent;
const delta = (body: object): Delta => ({ ...agent, address: 'a/t1/model', attempt: 1, ...body }) as unknown as Delta;
const says = (parts: readonly Part[], address = 'a/t1/model', of = agent): RunEvent =>
  event({ type: 'model-end', ...of, turn: 1, address, usage, message: { id: address, role: 'assistant', parts } });
const text = (said: string): Part => ({ type: 'text', text: said });
const message = (): RunEvent =>
  event({ type: 'message', ...agent, turn: 1, id: 'm', mode: 'after-turn', message: { id: 'sent.m', role: 'user', parts: [text('Hi.')] } });
const turnEnd = (more: object = {}): RunEvent => event({ type: 'turn-end', turn: 1, status: 'completed', usage, ...more });

const lineOf = (update: A2aUpdate): string => {
  if ('statusUpdate' in update) return update.statusUpdate.status.state;
  const { artifact, append, lastChunk } = update.artifactUpdate;
  return `${artifact.artifactId} ${append === true ? '+' : '='}${lastChunk === true ? '.' : ''} ${artifact.parts.map((part) => part.text ?? JSON.stringify(part)).join('')}`;
};

function folded(stream: readonly (RunEvent | Delta)[]) {
  const [live, later] = [1, 2].map(() => new TaskFold({ contextId: 'c', message: 'm' })) as [TaskFold, TaskFold];
  const lines = stream.flatMap((one) => [...live.take(one)]).map(lineOf);
  for (const one of stream) if (one.offset !== undefined) for (const _ of later.take(one));
  expect(live.task()).toEqual(later.task());
  return { lines, task: live.task() };
}

describe('what is said in vain', () => {
  it('is replaced by the next attempt, in the same artifact', () => {
    const stream = [message(), delta({ type: 'text-delta', text: 'Hal' }), delta({ type: 'attempt-void' })];
    const { lines } = folded([...stream, delta({ type: 'text-delta', text: 'Who' }), says([text('Whole.')]), turnEnd()]);
    expect(lines).toEqual([
      'TASK_STATE_WORKING',
      'a/t1/model = Hal',
      'a/t1/model = ',
      'a/t1/model = Who',
      'a/t1/model + le.',
      'a/t1/model +. ',
      'TASK_STATE_COMPLETED',
    ]);
  });

  it('is taken back when the turn ends without it', () => {
    const failed = turnEnd({ status: 'failed', error: { code: 'model-failed', message: 'Out of order.' } });
    const { lines, task } = folded([message(), delta({ type: 'text-delta', text: 'Hal' }), failed]);
    expect(lines.slice(1)).toEqual(['a/t1/model = Hal', 'a/t1/model = ', 'TASK_STATE_FAILED']);
    expect(task.artifacts).toBeUndefined();
  });
});

describe('the artifacts of a task', () => {
  it('have the files of a message', () => {
    const file: Part = { type: 'file', mediaType: 'image/png', data: 'YWJj' };
    const linked: Part = { type: 'file', mediaType: 'image/png', data: { url: 'https://a.example/b.png' } };
    const { task } = folded([message(), says([text('See.'), file, linked]), turnEnd()]);
    expect(task.artifacts?.[0]?.parts).toEqual([
      { text: 'See.' },
      { raw: 'YWJj', mediaType: 'image/png' },
      { url: 'https://a.example/b.png', mediaType: 'image/png' },
    ]);
  });

  it('are in the order in which messages became whole, and those of agents that are tools are not there', () => {
    const { task } = folded([
      message(),
      delta({ type: 'text-delta', address: 'a/slow', text: 'Slo' }),
      says([text('Fast.')], 'a/fast'),
      says([text('Hidden.')], 'a/tool', { agent: 'b', runPath: ['a', 'b@1'] }),
      says([text('Slow.')], 'a/slow'),
      turnEnd(),
    ]);
    expect(task.artifacts?.map(({ artifactId }) => artifactId)).toEqual(['a/fast', 'a/slow']);
  });

  it('end with the output that fits a schema, as data', () => {
    const output: Json = { total: 42 };
    const { lines, task } = folded([message(), says([text('{"total":42}')]), turnEnd({ output })]);
    expect(task.artifacts?.at(-1)).toEqual({
      artifactId: 'output',
      name: 'output',
      parts: [{ data: output, mediaType: 'application/json' }],
    });
    expect(lines.at(-2)).toMatch(/^output =\. /);
  });
});

describe('the state of a task', () => {
  const viewWith = (view: Partial<RunView>): RunView =>
    ({ id: 'c', agent: 'a', interrupts: [], conversation: { turn: 1, status: 'working', paused: false, queue: [] }, ...view }) as RunView;

  it.each<readonly [string, object, string]>([
    ['failed, when its run fails', { status: 'failed', error: { code: 'run-failed', message: 'No.' } }, 'TASK_STATE_FAILED'],
    ['canceled, when somebody cancels its run', { status: 'cancelled', reason: 'Enough.' }, 'TASK_STATE_CANCELED'],
  ])('is %s', (_, end, state) => {
    const { lines } = folded([message(), event({ type: 'run-end', ...end })]);
    expect(lines.at(-1)).toBe(state);
  });

  it.each<readonly [Partial<RunView>, string]>([
    [{ status: 'running' }, 'TASK_STATE_WORKING'],
    [{ status: 'stuck', error: { code: 'run-stuck', message: 'The code fails.' } }, 'TASK_STATE_WORKING'],
    [{ status: 'failed', error: { code: 'run-timed-out', message: 'Too long.' } }, 'TASK_STATE_FAILED'],
    [{ status: 'cancelled' }, 'TASK_STATE_CANCELED'],
  ])('follows the view %j where the log says nothing', (view, state) => {
    const fold = new TaskFold({ contextId: 'c', message: 'm' });
    for (const _ of fold.take(message()));
    for (const _ of fold.stands(viewWith(view)));
    const { status } = fold.task();
    expect([status.state, status.message?.parts[0]?.text]).toEqual([state, view.error?.message]);
  });

  it('never changes when it is over', () => {
    const { lines } = folded([message(), turnEnd(), says([text('Late.')], 'a/late'), event({ type: 'run-end', status: 'failed' })]);
    expect(lines).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });
});
