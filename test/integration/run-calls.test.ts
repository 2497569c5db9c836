import { Hono } from 'hono';
import type { ModelRunCall } from '../../contract/calls';
import type { RunEvent } from '../../contract/events';
import { names } from '../../contract/names';
import { ServiceClient } from '../../http/index';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';
import { english } from '../support/english';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, startTestBed, text } from '../support/test-bed';

const said = english(2000);

describe('the calls of a run on a real server', () => {
  let bed: TestBed;
  let temporal: Temporal;
  let service: ServiceClient;
  let broken = 1;
  beforeAll(async () => {
    temporal = await openTemporal();
    bed = await startTestBed(({ instructions, messages }) => {
      if (instructions.includes('pays')) return text('I am pays.');
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      if (turn === 0) return calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
      if (turn === 1) return calls({ name: 'echo', input: { text: said } });
      if (broken-- > 0) throw Object.assign(new Error('too many'), { isRetryable: true });
      return text('Done.');
    });
    const app = new Hono().route('/', createApp({ client: bed.client, agents: [], logger: createLogger({ level: 'silent' }) }));
    service = new ServiceClient('http://127.0.0.1', { fetch: async (input, init) => app.request(input, init) });
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  const started = async (id: string): Promise<readonly RunEvent[]> => {
    const log: RunEvent[] = [];
    for await (const event of bed.client.run(id).events({ deltas: false })) log.push(event);
    return log.filter(({ type }) => type === 'model-start' || type === 'tool-start');
  };

  it('are read over HTTP, over a continue-as-new, compressed, with the attempts that failed', async () => {
    const run = await bed.client.start('guarded', 'Refund 42.');
    const { interrupts } = (await run.outcome()) as { interrupts: readonly { id: string }[] };
    const before = await temporal.executionOf(run.id);
    await temporal.handle(run.id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(run.id, before);
    await run.approve(interrupts[0]?.id ?? '');
    expect(await run.result()).toBe('Done.');
    expect(await service.executions(run.id)).toMatchObject({
      executions: [{ began: 'started', temporalRunId: before }, { began: 'continued' }],
      more: false,
    });
    const [first, refund, second, echo, third] = await Promise.all(
      (await started(run.id)).map((event) => service.call(run.id, (event as { address: string }).address)),
    );
    expect(first).toMatchObject({
      kind: 'model',
      status: 'completed',
      turn: 1,
      attempts: 1,
      request: { total: 1, instructions: 'You are a test.' },
    });
    expect(first).not.toHaveProperty('diff');
    expect(refund).toMatchObject({
      kind: 'tool',
      tool: 'refund',
      request: { input: { orderId: '42', amount: 80 } },
      response: { outcome: { type: 'done' } },
    });
    // Its agent had asked in the Temporal run before.
    expect(second).toMatchObject({
      diff: { address: first?.address, messages: [{ at: 1, removed: [], added: [{ role: 'assistant' }, { role: 'tool' }] }], fields: [] },
    });
    expect(JSON.stringify(echo)).toContain(said);
    expect(third).toMatchObject({
      attempts: 2,
      lastFailure: { message: expect.stringContaining('too many') as string },
      response: { message: { role: 'assistant' } },
    });
    const page = (await service.call(run.id, third?.address ?? '', { limit: 2, before: 3 })) as ModelRunCall;
    expect(page.request).toMatchObject({ from: 1, total: 5 });
    expect(page.request.messages).toHaveLength(2);
  });

  it('of an isolated agent are in its own run', async () => {
    const run = await bed.client.start('refunds', 'Go.');
    await run.outcome();
    const id = `${run.id}~each.pays`;
    const [first] = await started(id);
    expect(await bed.client.run(id).call((first as { address: string }).address)).toMatchObject({
      kind: 'model',
      agent: 'pays',
      status: 'completed',
    });
  });

  it('are refused by a code where the run has none there', async () => {
    const run = await bed.client.start('short', 'Go.');
    await expect(service.call(run.id, 'short/t99/model')).rejects.toMatchObject({ code: 'call-unknown' });
    await expect(service.call('no-such-run', 'short/t1/model')).rejects.toMatchObject({ code: 'run-unknown' });
    await expect(bed.client.run(run.id).call('x', { limit: -1 })).rejects.toMatchObject({ code: 'request-invalid' });
    await run.cancel().catch(() => undefined);
  });
});
