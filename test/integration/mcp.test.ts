import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Run } from '../../client/runs/run';
import type { GenerateAnswer } from '../../activities/models/language-model';
import { fixtureTools } from '../fixtures/tools';
import { gate } from '../support/gate';
import { newServer, served } from '../support/mcp/tool-server-bed';
import { sharedBed } from '../support/shared-bed';
import { calls, script, text } from '../support/test-bed';

const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
const ledger = join(folder, 'ledger');
const payments = (): number =>
  existsSync(ledger)
    ? readFileSync(ledger, 'utf8')
        .split('\n')
        .filter((line) => line === 'paid').length
    : 0;
const shop = { command: process.execPath, args: [join(__dirname, '../support/mcp/shop.mjs')], env: { LEDGER: ledger } };
let amount: 'number' | 'string' = 'number';
const changing = newServer(() => {
  const made = new McpServer({ name: 'changing', version: '1' });
  const inputSchema = z.object({ amount: amount === 'number' ? z.number() : z.string() });
  made.registerTool('pay', { description: `Takes a ${amount}.`, inputSchema }, () => ({ content: [{ type: 'text', text: 'paid' }] }));
  return made;
});
const listed = gate();
const hungHandler = createMcpHandler(() => {
  const made = new McpServer({ name: 'hung', version: '1' });
  made.registerTool('look', { description: 'Looks.' }, () => ({ content: [{ type: 'text', text: 'seen' }] }));
  return made;
});
const hung = served(async (request) => {
  if ((await request.clone().text()).includes('"tools/list"')) await listed.pass();
  return hungHandler.fetch(request);
});
const mcp: Record<string, object> = { shop: { ...shop, effects: { pay: 'once' } }, desk: { ...shop, perRun: true } };
const told: string[] = [];
const owners: Readonly<Record<string, string>> = { 'Bearer one': 'a', 'Bearer two': 'b' };
const crm = served(async (request) => {
  const owner = owners[request.headers.get('authorization') ?? ''];
  if (owner === undefined) return new Response('', { status: 401 });
  return createMcpHandler(() => {
    const made = new McpServer({ name: 'crm', version: '1' });
    made.registerTool('look', { description: 'Looks.', inputSchema: z.object({ as: z.string() }) }, ({ as }) => {
      told.push(`${as} with the token of ${owner}`);
      return { content: [{ type: 'text', text: owner }] };
    });
    return made;
  }).fetch(request);
});
const forTenant = (tenant: string) =>
  tenant === 'a' || tenant === 'b' ? { headers: { authorization: `Bearer ${tenant === 'a' ? 'one' : 'two'}` } } : undefined;
beforeAll(async () => {
  mcp['changing'] = { url: (await changing).url };
  mcp['crm'] = { url: (await crm).url, forTenant };
  mcp['hung'] = { url: (await hung).url };
});
const bed = sharedBed({ tools: fixtureTools, mcp: mcp as never });
afterAll(async () => {
  for (const server of [changing, crm, hung]) await (await server).close();
  rmSync(folder, { recursive: true });
});

const asked = async (run: Run): Promise<{ readonly id: string; readonly kind: string; readonly info: unknown }> => {
  for (;;) {
    const [interrupt] = await run.interrupts();
    if (interrupt !== undefined) return interrupt as never;
    await run.outcome();
  }
};
const start = (tools: readonly string[], ...answers: readonly GenerateAnswer[]): Promise<Run> =>
  bed.scripted(script(...answers)).start('plain', 'Go.', { options: { tools } });

it('leaves a `once` call in doubt whose server is killed, and never pays twice, 50 times', async () => {
  const before = payments();
  const runs = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const crash = ['before', 'after', 'never'][n % 3];
      return [crash, await start(['shop_pay'], calls({ name: 'shop_pay', input: { crash: crash as string } }), text('Done.'))] as const;
    }),
  );
  let inDoubt = 0;
  for (const [, run] of runs) {
    const outcome = await run.outcome();
    if (outcome.status === 'completed') continue;
    const { id, kind, info } = await asked(run);
    inDoubt += 1;
    expect({ kind, info }).toMatchObject({ kind: 'in-doubt', info: { tool: 'shop_pay', reconcile: { said: 'nothing' } } });
    await run.resume(id, { happened: true, result: 'paid' });
  }
  for (const [, run] of runs) expect(await run.result()).toBe('Done.');
  expect(inDoubt).toBeGreaterThanOrEqual(34);
  expect(payments() - before).toBeLessThanOrEqual(33);
});

it('brings an answer to a server that asks after the worker and the process of the server have ended', async () => {
  const before = payments();
  const run = await start(['desk_sell'], calls({ name: 'desk_sell', input: {} }), text('Done.'));
  const { id, kind, info } = await asked(run);
  expect([kind, info]).toEqual(['question', { question: 'Pay 80?', server: 'desk', tool: 'sell' }]);
  await bed.stopWorker();
  await bed.startWorker();
  await expect(run.resume(id, { action: 'perhaps' })).rejects.toMatchObject({ code: 'answer-invalid' });
  await run.resume(id, { action: 'accept', content: { ok: true } });
  expect(await run.result()).toBe('Done.');
  expect(payments() - before).toBe(1);
});

it('holds only the runs that need a server which does not list its tools', async () => {
  const held = await start(['hung_look'], calls({ name: 'hung_look', input: {} }), text('Looked.'));
  await listed.reached;
  const other = await start([], text('Done.'));
  expect(await other.result()).toBe('Done.');
  expect((await held.view()).status).toBe('running');
  listed.open();
  expect(await held.result()).toBe('Looked.');
});

it('keeps the schema of its start for a run that waits while the list changes', async () => {
  const told: string[] = [];
  const model = bed.scripted(({ tools, messages }) => {
    told.push(tools.find(({ name }) => name === 'changing_pay')?.description ?? '');
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    return (
      [calls({ name: 'ask', input: { question: 'Now?' } }), calls({ name: 'changing_pay', input: { amount: 5 } })][turn] ?? text('Done.')
    );
  });
  const run = await model.start('plain', 'Go.', { options: { tools: ['ask', 'changing_pay'] } });
  const { id } = await asked(run);
  amount = 'string';
  await run.resume(id, { answer: 'yes' });
  expect(await run.result()).toBe('Done.');
  expect(new Set(told)).toEqual(new Set(['Takes a number.']));
  const results = (await run.transcript()).flatMap(({ parts }) => parts).filter((part) => part.type === 'tool-result');
  // The server checks by its new schema.
  expect(JSON.stringify(results.at(-1))).toContain('amount');
  const fresh = await start(['changing_pay'], calls({ name: 'changing_pay', input: { amount: '5' } }), text('Done.'));
  expect(await fresh.result()).toBe('Done.');
});

it('calls with the token of the tenant of the run, also after a restart of the worker', async () => {
  const tenants = ['a', 'b', 'a', 'b'];
  const look = (as: string) => calls({ name: 'crm_look', input: { as } });
  const begin = (tenant: string): Promise<Run> => {
    const { model } = bed.scripted(script(look(tenant), calls({ name: 'ask', input: { question: 'Now?' } }), look(tenant), text('Done.')));
    return bed.client.forTenant(tenant).start('plain', 'Go.', { model, options: { tools: ['ask', 'crm_look'] } });
  };
  const runs = await Promise.all(tenants.map(begin));
  const questions = await Promise.all(runs.map(asked));
  await bed.stopWorker();
  await bed.startWorker();
  await Promise.all(runs.map((run, n) => run.resume(questions[n]?.id ?? '', { answer: 'yes' })));
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual(tenants.map(() => 'Done.'));
  const expected = tenants.flatMap((tenant) => Array.from({ length: 2 }, () => `${tenant} with the token of ${tenant}`));
  expect(told.sort()).toEqual(expected.sort());
  const refused = await begin('c');
  expect(await refused.outcome()).toMatchObject({ status: 'failed', error: { code: 'mcp-forbidden' } });
  const history = JSON.stringify(await Promise.all(runs.map(async (run) => [await run.view(), await run.transcript()])));
  expect(history).not.toContain('Bearer');
});
