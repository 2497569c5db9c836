import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { CallPrincipal } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/tools';
import type { KnownCaller } from '../../client/connection/authority';
import { allActions } from '../../contract/access';
import { fixtureTools } from '../fixtures/tools';
import { sharedBed } from '../support/shared-bed';
import { calls, text } from '../support/test-bed';

const seen: CallPrincipal[] = [];
const echo = defineTool({
  description: 'Says it again.',
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text: said }, { principal }) => {
    seen.push(principal);
    return said;
  },
});
const bed = sharedBed({ tools: { ...fixtureTools, echo } });
const { model } = bed.scripted(({ messages }) =>
  messages.at(-1)?.role === 'tool' ? text('Done.') : calls({ name: 'echo', input: { text: 'x' } }),
);
const refusing = bed.scripted(() => {
  throw Object.assign(new Error('The key is wrong.'), { statusCode: 401 });
});
const callerOf = (user: string): KnownCaller => ({
  ...{ tenant: 'default', user, roles: ['clerk'], proof: `key:of-${user}`, may: new Set(allActions) },
});
const inNameOf = (user: string) => bed.client.as(callerOf(user));

it('a worker on a real server knows for whom a tool works: who began the turn, or the starter', async () => {
  const id = `principal-${randomUUID()}`;
  await (await inNameOf('ada').start('short', 'Hi', { model })).result();
  await (await bed.client.start('short', 'Hi', { model })).result();
  for (const [nth, user] of ['ada', 'bob'].entries()) {
    const chat = inNameOf(user).conversation('short', id, { model });
    await chat.send('Hi');
    await chat.turn(nth + 1);
  }
  const proven = (user: string) => ({ tenant: 'default', user, roles: ['clerk'], proof: `key:of-${user}` });
  expect(seen).toEqual([proven('ada'), { tenant: 'default' }, proven('ada'), proven('bob')]);
});

it('the log of a run on a real server says how the name of the starter was proven, and of who goes on with the run', async () => {
  const run = await inNameOf('ada').start('short', 'Hi', { model: refusing.model });
  expect(await run.outcome()).toMatchObject({ status: 'failed' });
  const again = inNameOf('bob').run(run.id);
  await again.retry();
  expect(await again.outcome()).toMatchObject({ status: 'failed' });
  const signed = [];
  for await (const event of again.events({ deltas: false }))
    if (event.type === 'run-start' || event.type === 'run-retry') signed.push([event.type, event.by, event.proof]);
  expect(signed).toEqual([
    ['run-start', 'ada', 'key:of-ada'],
    ['run-retry', 'bob', 'key:of-bob'],
  ]);
});
