import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { z } from 'zod';
import { createActivities } from '../../activities/activities';
import { CallMarks } from '../../activities/health/call-marks';
import { defineTool } from '../../activities/tools/define-tool';
import { partsOf } from '../../worker/worker-parts';
import { gate } from '../support/gate';

describe('a local activity that ends its process', () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-marks-'));
  let calls = 0;
  const inProcess = (most: number, run: () => Promise<string> = async () => 'ran'): Promise<string> => {
    const counted = (): Promise<string> => ((calls += 1), run());
    return new CallMarks(directory).during('default/r/x/a/dies.0', most, counted, (lost) => `lost ${lost} times`);
  };
  /** A process that ends never comes to the end of the call. */
  const die = (most: number): void => void inProcess(most, () => new Promise(() => undefined));

  it('is called so often, and no more', async () => {
    die(2);
    die(2);
    expect(await inProcess(2)).toBe('lost 2 times');
    expect(calls).toBe(2);
  });

  it('is called anew after it was refused, or had an end of its own', async () => {
    expect(await inProcess(1)).toBe('ran');
    await expect(inProcess(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    die(1);
    expect(await inProcess(1)).toBe('lost 1 times');
    expect(await inProcess(1)).toBe('ran');
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is not counted where nothing can be written', async () => {
    const nowhere = new CallMarks(join(directory, 'not', 'there'));
    expect(
      await nowhere.during(
        'key',
        1,
        async () => 'ran',
        () => 'refused',
      ),
    ).toBe('ran');
  });
});

it.each<[string, boolean, number, object]>([
  [
    'quick tool fails after five lost attempts, and the model is told',
    true,
    5,
    { outcome: { type: 'failed', error: { code: 'tool-failed' } } },
  ],
  [
    'short call fails after one, and the run makes it as an activity',
    false,
    1,
    { failed: expect.stringContaining('1 attempts') as string },
  ],
])('a %s', async (_, quick, attempts, ended) => {
  const held = gate();
  let begin = (): void => undefined;
  const dies = defineTool({
    description: 'Dies.',
    inputSchema: z.object({}),
    effect: 'none',
    quick,
    execute: () => (begin(), held.pass()),
  });
  const nothing = { workflowService: {} as never, namespace: 'default' };
  const marks = new CallMarks(mkdtempSync(join(tmpdir(), 'holdfast-marks-')));
  const parts = partsOf(
    { tools: { dies }, environment: {} },
    { source: nothing, connection: () => nothing as never, taskQueue: () => 'q', dataConverter: () => undefined, marks },
  );
  const call = async (): Promise<unknown> => {
    const environment = new MockActivityEnvironment({
      activityId: '1',
      isLocal: true,
      workflowExecution: { workflowId: 'default/r', runId: 'x' },
    });
    const input = { path: ['a'], tool: 'dies', callId: 'c', address: 'a/t1/dies.0', input: {}, halves: [] };
    return environment.run(() => createActivities(parts).callTool(input as never)).catch((error: Error) => ({ failed: error.message }));
  };
  const lost: Promise<unknown>[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    const begun = new Promise<void>((resolve) => (begin = resolve));
    lost.push(call());
    await begun;
  }
  expect(await call()).toMatchObject(ended);
  held.open();
  await Promise.all(lost);
});
