import { randomBytes } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import type { Delta } from 'holdfast/client';
import { runExamples } from '../../support/document-examples';

const { deltasFrom, deltasTo, sealed } = runExamples(['operations/own-service'], require);

it('the codec of the page gives back what it has sealed, passes over what is not sealed, and refuses what somebody changed', async () => {
  const codec = sealed(randomBytes(32));
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"card":"4111"}') };
  const [shut] = await codec.encode([payload]);
  expect(Buffer.from(shut?.data ?? []).toString('latin1')).not.toContain('4111');
  const [opened] = await codec.decode([shut as Payload]);
  expect(Buffer.from(opened?.data ?? []).toString()).toBe('{"card":"4111"}');
  expect(await codec.decode([payload])).toEqual([payload]);
  const changed = { ...shut, data: Buffer.from(shut?.data ?? []).fill(0, 20, 21) } as Payload;
  await expect(codec.decode([changed])).rejects.toThrow();
});

it('tokens of a worker of another process come to whoever reads, also to those who come late', () => {
  const hearers: ((text: string) => void)[] = [];
  const bus = deltasFrom((heard: (text: string) => void) => void hearers.push(heard));
  const sink = deltasTo((text: string) => hearers.forEach((heard) => heard(text)));
  const place = { agent: 'support', runPath: ['support'], address: 'support/t1/model', attempt: 0 };
  const told: string[] = [];
  const say = (body: object): void => sink.publish('run', { ...place, ...body });
  say({ type: 'attempt-start' });
  say({ type: 'text-delta', text: 'Hel' });
  bus.subscribe('run', (delta: Delta) => void told.push(delta.type === 'text-delta' ? delta.text : delta.type));
  say({ type: 'text-delta', text: 'lo' });
  sink.settle('run', place.address);
  expect(told).toEqual(['attempt-start', 'Hel', 'lo']);
  const late: unknown[] = [];
  bus.subscribe('run', (delta: Delta) => void late.push(delta));
  expect(late).toEqual([]);
});
