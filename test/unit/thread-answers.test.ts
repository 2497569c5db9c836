import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import { threadCode } from '../../worker/threads/spare-thread';

/** In place of the SDK's thread: one workflow, which logs what its activation says. */
const sdk = `
const { parentPort } = require('node:worker_threads');
let logged = [];
parentPort.on('message', async ({ requestId, input }) => {
  await undefined;
  const ok = (output) => parentPort.postMessage({ requestId, result: { type: 'ok', output } });
  if (input.type === 'extract-sink-calls') return ok({ type: 'sink-calls', calls: logged.splice(0) });
  logged.push(...input.logs.map((log) => (log === 'a function' ? () => undefined : log)));
  if (input.fails) return parentPort.postMessage({ requestId, result: { type: 'error', name: 'Error', message: 'It fails.', stack: '' } });
  ok({ type: 'activation-completion', completion: input.logs.length });
});
`;

let directory: string;
let thread: Thread;
let requests = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-thread-'));
  const file = join(directory, 'sdk.cjs');
  writeFileSync(file, sdk);
  thread = new Thread(threadCode, { eval: true, workerData: { thread: file, stackTraces: true } });
});
afterEach(async () => {
  await thread.terminate();
  rmSync(directory, { recursive: true });
});

async function ask(input: object): Promise<unknown> {
  const requestId = requests++;
  const answered = once(thread, 'message') as Promise<[{ requestId: number; result: unknown }]>;
  thread.postMessage({ requestId, input });
  const [answer] = await answered;
  expect(answer.requestId).toBe(requestId);
  return answer.result;
}

const activate = (logs: readonly string[], more: object = {}): Promise<unknown> =>
  ask({ type: 'activate-workflow', runId: 'r', logs, ...more });
const extract = (): Promise<unknown> => ask({ type: 'extract-sink-calls', runId: 'r' });
const calls = (logs: readonly string[]): object => ({ type: 'ok', output: { type: 'sink-calls', calls: logs } });

describe('the thread of workflow code', () => {
  it('says with an activation that its workflow has logged nothing', async () => {
    expect(await activate([])).toEqual({ type: 'ok', output: { type: 'activation-completion', completion: 0, isQuiet: true } });
    expect(await extract()).toEqual(calls([]));
  });

  it('keeps what a workflow has logged until it is asked for', async () => {
    expect(await activate(['one', 'two'])).toEqual({ type: 'ok', output: { type: 'activation-completion', completion: 2 } });
    expect(await extract()).toEqual(calls(['one', 'two']));
    expect(await extract()).toEqual(calls([]));
  });

  it('gives after a failed activation what was logged before it failed', async () => {
    expect(await activate(['one'], { fails: true })).toMatchObject({ type: 'error', message: 'It fails.' });
    expect(await extract()).toEqual(calls(['one']));
  });

  it('completes an activation whose log cannot leave the thread, and fails whoever asks for the log', async () => {
    expect(await activate(['a function'])).toMatchObject({ type: 'ok', output: { completion: 1 } });
    expect(await extract()).toMatchObject({ type: 'error', name: 'DataCloneError' });
    expect(await activate([])).toMatchObject({ output: { isQuiet: true } });
  });
});
