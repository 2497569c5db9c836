import { randomBytes } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { runExamples } from '../../support/document-examples';
import { eventually } from '../../support/eventually';

const { deltasBy, sealed } = runExamples(['operations/own-service'], require);

it('the codec of the page gives back what it has sealed, passes over what is not sealed, and refuses what somebody changed', async () => {
  const codec = sealed(randomBytes(32));
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"card":"4111"}') };
  const [shut] = await codec.encode([payload]);
  expect(Buffer.from(shut?.data ?? []).toString('latin1')).not.toContain('4111');
  const [opened] = await codec.decode([shut as Payload]);
  expect(Buffer.from(opened?.data ?? []).toString()).toBe('{"card":"4111"}');
  expect(await codec.decode([payload])).toEqual([payload]);
  const changed = { ...shut, data: Buffer.from(shut?.data ?? []).map((byte, at) => (at === 20 ? byte ^ 1 : byte)) } as Payload;
  await expect(codec.decode([changed])).rejects.toThrow();
});

it('the bus of the page is one, and tells a Redis that is away', async () => {
  const told = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const bus = deltasBy('redis://127.0.0.1:1');
  await eventually(() => Promise.resolve(told.mock.calls[0]));
  await bus.close();
  expect(told.mock.calls).toEqual([['deltas-not-shared', expect.stringContaining('cannot be used')]]);
  told.mockRestore();
});
