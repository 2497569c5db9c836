import { z } from 'zod';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { ErrorCode } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { startRun, tools } from './memory-bed';

export const desk = { payments: [] as string[], calls: 0, broken: true };

export function resetDesk(): void {
  Object.assign(desk, { payments: [], calls: 0, broken: true });
}

export const brokenKit = {
  ...tools,
  pay: defineTool({
    description: 'Pays once.',
    inputSchema: z.object({}),
    effect: 'once',
    execute: (_, call) => {
      desk.payments.push(call.idempotencyKey);
      return 'paid';
    },
  }),
  notify: defineTool({
    description: 'Fails as long as it is broken.',
    inputSchema: z.object({}),
    execute: () => {
      desk.calls += 1;
      if (desk.broken) throw new Error('no mail server');
      return 'sent';
    },
  }),
};

export const call = (...tool: readonly string[]): ScriptedStep => ({ toolCalls: tool.map((name) => ({ name, input: {} })) });

export const atDesk = <Input extends Json, Output>(
  agent: Parameters<typeof startRun<Input, Output>>[0],
  model: Parameters<typeof startRun>[1],
): Promise<TestRun<Output>> => startRun(agent, model, { tools: brokenKit });

export async function failed(run: TestRun<unknown>, code: ErrorCode = 'tool-failed'): Promise<void> {
  expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code } });
}

/** The run has failed. Somebody mends the desk and retries the run. */
export async function mended(run: TestRun<unknown>): Promise<void> {
  expect((await run.outcome()).status).toBe('failed');
  desk.broken = false;
  await run.retry();
}

export async function goesOn(run: TestRun<unknown>, output?: Json): Promise<void> {
  await mended(run);
  expect(await run.outcome()).toMatchObject({ status: 'completed', ...(output === undefined ? {} : { output }) });
}

export async function failsOften(run: TestRun<unknown>): Promise<void> {
  for (let retries = 0; retries < 4; retries++) {
    await failed(run);
    await run.retry();
  }
}
