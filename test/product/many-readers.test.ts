import { connect } from 'node:net';
import { ServiceClient } from '../../http/index';
import { gate } from '../support/gate';
import type { ServiceBed } from './service-bed';
import { startServiceBed } from './service-bed';

let bed: ServiceBed;
beforeAll(async () => {
  bed = await startServiceBed();
});
afterAll(() => bed.close());

const readers = 500;
const megabyte = 1024 * 1024;

it('shows a run to 500 readers at once, and none waits for one that does not read', async () => {
  const holdfast = new ServiceClient(bed.url);
  const { id } = await holdfast.start({ agent: 'support', input: 'Refund order 42, it arrived broken' });
  let reached = 0;
  const waits = gate();
  const read = async (): Promise<string> => {
    const types: string[] = [];
    for await (const { type } of holdfast.events(id)) {
      types.push(type);
      if (type === 'interrupt-start' && ++reached === readers) void waits.pass();
    }
    return types.join(' ');
  };
  // It asks, and takes nothing of what comes.
  const silent = connect(Number(new URL(bed.url).port), '127.0.0.1');
  silent.on('error', () => undefined);
  silent.pause();
  silent.write(`GET /runs/${id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);

  const before = process.memoryUsage().rss;
  const reading = Promise.all(Array.from({ length: readers }, read));
  await waits.reached;
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * megabyte);
  const [interrupt] = await holdfast.interruptsOf(id);
  await holdfast.answer(id, interrupt?.id ?? '', { decision: 'approve' });
  const [first = '', ...others] = await reading;
  expect(first.startsWith('run-start')).toBe(true);
  expect(first.endsWith('run-end')).toBe(true);
  expect(others.filter((other) => other !== first)).toEqual([]);
  expect((await holdfast.view(id)).status).toBe('completed');
  silent.destroy();
});

it('takes 500 requests at once that are no good, and answers each', async () => {
  const bodies = ['{', '[]', '{"agent":3}', '{"agent":"nobody","input":"x"}', '"x"', '{"agent":"support","input":"x","id":".."}'];
  const ask = async (number: number): Promise<number> => {
    const body = bodies[number % bodies.length] ?? '';
    const response = await fetch(`${bed.url}/runs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(((await response.json()) as { error: { code: string } }).error.code).toMatch(/^(request-invalid|agent-unknown|run-id-invalid)$/);
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: readers }, (_, number) => ask(number)));
  expect([...new Set(statuses)].sort()).toEqual([400, 404]);
  expect((await fetch(`${bed.url}/health`)).status).toBe(200);
});
