import { z } from 'zod';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import { codeOf } from '../../contract/errors';
import { defineTool } from '../../activities/tools/tools';
import { fixtureTools } from '../fixtures/tools';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import type { Answerer } from '../support/test-bed';
import { calls, script, testServer, text } from '../support/test-bed';

const payments: string[] = [];
const mail = { works: false };
const tools = {
  ...fixtureTools,
  pay: defineTool({
    description: 'Pays once.',
    inputSchema: z.object({ amount: z.number() }),
    effect: 'once',
    execute: (_, call) => {
      payments.push(call.idempotencyKey);
      return 'paid';
    },
  }),
  echo: defineTool({
    description: 'Fails without a mail server.',
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text: said }) => {
      if (!mail.works) throw new Error('no mail server');
      return said;
    },
  }),
};
const job = script(calls({ name: 'pay', input: { amount: 5 } }), calls({ name: 'echo', input: { text: 'Paid.' } }), text('Done.'));

const answer: Answerer = (request) => {
  if (!request.instructions.startsWith('You are payersLead.')) return job(request);
  const told = request.messages.some(({ role }) => role === 'tool');
  return told ? text('Led.') : calls({ name: 'payer', input: { request: 'Pay 5.' } });
};

describe('a failed run', () => {
  const bed = sharedBed({ tools });
  const model = bed.scripted(answer);
  beforeEach(() => {
    mail.works = false;
    payments.length = 0;
  });

  const failed = async (id: string, tags: readonly string[] = []): Promise<Run> => {
    const run = await model.start('unforgiving', 'Pay 5.', { id, tags });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'tool-failed' } });
    return run;
  };

  it('that had paid pays once, retried five times, and its log goes on without a gap', async () => {
    const run = await failed('five');
    for (let retry = 1; retry <= 4; retry++) {
      await run.retry({ by: `ada-${retry}` });
      expect((await run.outcome()).status).toBe('failed');
    }
    mail.works = true;
    await run.retry({ by: 'ada-5' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(await run.result()).toBe('Done.');
    expect(payments).toEqual(['default/five/unforgiving/t1/pay.0']);

    const { executions, more } = await run.executions();
    expect([executions.map(({ began }) => began), more]).toEqual([['started', ...Array.from({ length: 5 }, () => 'went-on')], false]);
    expect(executions.map(({ error }) => error?.code)).toEqual([...Array.from({ length: 5 }, () => 'tool-failed'), undefined]);
    expect(executions[0]).toMatchObject({ closedAt: expect.any(String), error: { message: expect.stringContaining('no mail server') } });

    const log = await logOf(run);
    expect(log.map(({ offset }) => offset)).toEqual(log.map((_, position) => position));
    expect(log.flatMap((event) => (event.type === 'run-retry' ? [event.by] : []))).toEqual(['ada-1', 'ada-2', 'ada-3', 'ada-4', 'ada-5']);
    expect(log.filter(({ type }) => type === 'run-end')).toHaveLength(6);
    expect(log.filter((event) => event.type === 'tool-start' && event.tool === 'pay')).toHaveLength(1);
    const other = await connect({ server: testServer(), taskQueue: bed.taskQueue });
    expect(await logOf(other.run('five'), { from: 9 })).toEqual(log.slice(9));
    await other.close();
    const view = await run.view();
    expect(view).toMatchObject({ status: 'completed', nextOffset: log.length, usage: { inputTokens: 30, outputTokens: 15 } });
    expect(view.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']);
    expect((await model.start('unforgiving', 'Pay 5.', { id: 'five' })).isNew).toBe(false);
  });

  it('goes on in its isolated agent, under the id of that agent: one payment in five retries', async () => {
    const run = await model.start('payersLead', 'Pay 5.', { id: 'apart' });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'tool-failed' } });
    for (let retry = 1; retry <= 4; retry++) {
      await run.retry();
      expect((await run.outcome()).status).toBe('failed');
    }
    mail.works = true;
    await run.retry({ by: 'ada' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Led.' });
    expect(payments).toEqual(['default/apart~payer@1/payer/t1/pay.0']);
    const log = await logOf(run);
    expect(log.map(({ offset }) => offset)).toEqual(log.map((_, position) => position));
    expect(log.flatMap((event) => (event.type === 'agent-start' ? [event.run] : []))).toEqual(
      Array.from({ length: 6 }, () => 'apart~payer@1'),
    );
    const inside = await logOf(bed.client.run('apart~payer@1'));
    expect(inside.map(({ offset }) => offset)).toEqual(inside.map((_, position) => position));
    expect(inside.filter(({ type }) => type === 'run-retry')).toHaveLength(5);
    expect(inside.filter((event) => event.type === 'tool-start' && event.tool === 'pay')).toHaveLength(1);
    expect(inside.at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
    expect((await run.view()).usage).toEqual({ inputTokens: 50, outputTokens: 25 });
    await expect(bed.client.run('apart~payer@1').retry()).rejects.toMatchObject({ code: 'retry-impossible' });
  });

  it('is one run in lists, of which the last execution says how it stands', async () => {
    const tags = ['failed-night'];
    await Promise.all(['n1', 'n2', 'n3'].map((id) => failed(id, tags)));
    const ids = async (status?: 'failed' | 'completed'): Promise<unknown> => {
      const { runs, total } = await bed.client.list({ tag: 'failed-night', total: true, ...(status === undefined ? {} : { status }) });
      return [runs.map(({ id, status: now }) => `${id} ${now}`).sort(), total];
    };
    await eventually(async () => expect(await ids('failed')).toEqual([['n1 failed', 'n2 failed', 'n3 failed'], 3]));
    const before = (await bed.client.list({ tag: 'failed-night' })).runs.find(({ id }) => id === 'n2')?.startedAt;
    mail.works = true;
    const run = bed.client.run('n2');
    await run.retry();
    expect((await run.outcome()).status).toBe('completed');
    await eventually(async () => expect(await ids('failed')).toEqual([['n1 failed', 'n3 failed'], 2]));
    await eventually(async () => expect(await ids('completed')).toEqual([['n2 completed'], 1]));
    await eventually(async () => expect(await ids()).toEqual([['n1 failed', 'n2 completed', 'n3 failed'], 3]));
    const row = (await bed.client.list({ tag: 'failed-night', status: 'completed' })).runs[0];
    expect(row?.startedAt).toBe(before);
  });

  it('goes on once when several retry it at once, and all but one hear that it has not failed', async () => {
    const run = await failed('race');
    mail.works = true;
    const ends = await Promise.all(Array.from({ length: 5 }, () => run.retry().then(() => 'taken', codeOf)));
    expect(ends.sort()).toEqual([...Array<string>(4).fill('run-not-failed'), 'taken']);
    expect((await run.outcome()).status).toBe('completed');
    expect((await logOf(run)).filter(({ type }) => type === 'run-retry')).toHaveLength(1);
    expect(payments).toHaveLength(1);
  });

  it('is told why it cannot go on', async () => {
    const run = await failed('why');
    mail.works = true;
    await run.retry();
    expect((await run.outcome()).status).toBe('completed');
    await expect(run.retry()).rejects.toMatchObject({ code: 'run-not-failed', message: expect.stringContaining('has completed') });
    await expect(bed.client.run('nobody').retry()).rejects.toMatchObject({ code: 'run-unknown' });
    await expect(run.retry({ by: '' })).rejects.toMatchObject({ code: 'request-invalid' });
    const ended = await model.start('plain', 'Pay 5.', { id: 'ended' });
    await ended.terminate();
    await expect(ended.retry()).rejects.toMatchObject({ code: 'retry-impossible', message: expect.stringContaining('terminated') });
  });

  it('has its deadline again, and is refused when that has passed', async () => {
    const run = await model.start('unforgiving', 'Pay 5.', { id: 'late', deadline: '1h' });
    expect((await run.outcome()).status).toBe('failed');
    mail.works = true;
    await run.retry({ deadline: '2h' });
    expect((await run.outcome()).status).toBe('completed');
  });
});
