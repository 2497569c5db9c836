import type { Client } from '@temporalio/client';
import { Client as TemporalClient } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import { codeOf } from '../../contract/errors';
import { interruptMemoPrefix } from '../../contract/names';
import { limits } from '../../contract/limits';
import { names } from '../../contract/names';
import { createLogger } from '../../host/logger';
import { startService } from '../../service/http/start-service';
import { logOf } from '../support/server-logs';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import { testServer } from '../support/test-bed';

let temporal: Temporal;
let client: HoldfastClient;
let direct: Client;
let runs = 0;
beforeAll(async () => {
  temporal = await openTemporal();
  direct = new TemporalClient({ connection: temporal.connection });
  client = await connect({ server: testServer(), taskQueue: `nobody-${process.pid}` });
});
afterAll(async () => {
  await client.close();
  await temporal.close();
});

const newId = (): string => `stranger-${process.pid}-${runs++}`;

describe('a workflow of our type that something else started', () => {
  it.each<[string, readonly unknown[]]>([
    ['nothing', []],
    ['an empty input', [{}]],
    ['null', [null]],
    ['a text', ['hello']],
    ['an agent that is none', [{ start: { agent: 5, input: 'x' } }]],
    ['a snapshot that is none', [{ start: { agent: 'a', input: 'x' }, snapshot: { state: {}, lists: 5 } }]],
    ['a snapshot of null', [{ start: { agent: 'a', input: 'x' }, snapshot: null }]],
  ])('is read as stuck, and ended, when its input is %s', async (_, args) => {
    const id = newId();
    await direct.workflow.start(names.workflow, { workflowId: `default/${id}`, taskQueue: 'nobody', args: [...args] });
    const run = client.run(id);
    expect(await run.view()).toMatchObject({
      id,
      status: 'stuck',
      messages: [],
      error: { code: 'run-stuck', message: expect.stringContaining('started without Holdfast') },
    });
    expect(await run.outcome()).toMatchObject({ status: 'stuck' });
    await run.terminate('Not ours.');
    expect(await run.view()).toMatchObject({ status: 'failed', error: { code: 'run-terminated', message: 'Not ours.' } });
    await expect(run.terminate()).rejects.toMatchObject({ code: 'run-ended' });
    expect((await logOf(run)).map(({ type }) => type)).toEqual(['run-end']);
  });

  it('is listed without what it says of interrupts that are none', async () => {
    const id = newId();
    const interrupt = { id: 'x', address: [], agent: 'a', kind: 'question', info: 'Real?' };
    const forged: Record<string, unknown> = {
      boo: 'boo',
      list: [],
      kind: { ...interrupt, kind: 'other' },
      agent: { ...interrupt, agent: 5 },
      by: { ...interrupt, by: 'ada' },
      deadline: { ...interrupt, deadline: 'soon' },
      approval: { ...interrupt, kind: 'approval' },
      x: interrupt,
    };
    await direct.workflow.start(names.workflow, {
      workflowId: `default/${id}`,
      taskQueue: 'nobody',
      args: [{}],
      memo: Object.fromEntries(Object.entries(forged).map(([key, value]) => [`${interruptMemoPrefix}${key}`, value])),
      typedSearchAttributes: [
        { key: defineSearchAttributeKey('HoldfastTenant', 'KEYWORD'), value: 'default' },
        { key: defineSearchAttributeKey('HoldfastStatus', 'KEYWORD'), value: 'waiting' },
      ],
    });
    await eventually(async () => {
      const { interrupts: inbox } = await client.interrupts({ limit: 1000 });
      expect(inbox.filter(({ runId }) => runId === id)).toEqual([{ runId: id, agent: '', tags: [], interrupt }]);
    });
    await client.run(id).terminate();
  });
});

describe('a run with data in an encoding that nobody here knows', () => {
  const foreign = { metadata: { encoding: Buffer.from('binary/foreign') }, data: Buffer.from([1, 2, 3]) };

  async function started(id: string): Promise<void> {
    const indexed = (value: string): { metadata: Record<string, Buffer>; data: Buffer } => ({
      metadata: { encoding: Buffer.from('json/plain'), type: Buffer.from('Keyword') },
      data: Buffer.from(JSON.stringify(value)),
    });
    await temporal.connection.workflowService.startWorkflowExecution({
      namespace: 'default',
      requestId: id,
      workflowId: `default/${id}`,
      workflowType: { name: names.workflow },
      taskQueue: { name: 'nobody' },
      input: { payloads: [foreign] },
      memo: { fields: { [names.memo.start]: foreign, [`${interruptMemoPrefix}x`]: foreign } },
      searchAttributes: { indexedFields: { HoldfastTenant: indexed('default'), HoldfastStatus: indexed('waiting') } },
    });
  }

  it('is told by its code, hides no other run from the lists, and can be ended', async () => {
    const id = newId();
    await started(id);
    const unreadable = { code: 'run-unreadable', message: expect.stringContaining('"binary/foreign"') };
    const run = client.run(id);
    await expect(run.view()).rejects.toMatchObject(unreadable);
    await expect(run.resume('x', 1)).rejects.toMatchObject(unreadable);
    await expect(run.events().next()).rejects.toMatchObject(unreadable);
    await expect(client.start('plain', 'hello', { id })).rejects.toMatchObject({ code: 'run-id-in-use' });
    const other = await client.start('plain', 'hello');
    await eventually(async () => {
      const listed = (await client.list({ limit: 1000 })).runs.map((each) => each.id);
      expect(listed).toEqual(expect.arrayContaining([id, other.id]));
    });
    expect((await client.interrupts({ limit: 1000 })).interrupts.filter(({ runId }) => runId === id)).toEqual([]);
    await run.terminate();
    await expect(run.terminate()).rejects.toMatchObject({ code: 'run-ended' });
    await other.terminate();
  });

  it('is answered by the service with that code', async () => {
    const id = newId();
    await started(id);
    const service = await startService({ client, agents: [], logger: createLogger({ level: 'silent' }), host: '127.0.0.1', port: 0 });
    for (const path of ['', '/transcript', '/interrupts', '/events']) {
      const response = await fetch(`${service.url}/runs/${id}${path}`);
      expect([response.status, await response.json()]).toMatchObject([422, { error: { code: 'run-unreadable' } }]);
    }
    expect((await fetch(`${service.url}/runs`)).status).toBe(200);
    expect((await fetch(`${service.url}/interrupts`)).status).toBe(200);
    await service.close();
    await client.run(id).terminate();
  });
});

describe('the tags of a run', () => {
  const tagsOf = (bytes: number): readonly string[] => {
    const tags = Array.from({ length: 11 }, () => 'x'.repeat(180));
    return [...tags, 'y'.repeat(bytes - JSON.stringify([...tags, '']).length)];
  };

  it('are taken up to what the server takes, and refused beyond it', async () => {
    const id = newId();
    const run = await client.start('plain', 'hello', { id, tags: tagsOf(limits.tags) });
    expect(run.isNew).toBe(true);
    const refused: unknown = await client.start('plain', 'hello', { tags: tagsOf(limits.tags + 1) }).catch((error: unknown) => error);
    expect(codeOf(refused)).toBe('input-invalid');
    expect((refused as Error).message).toBe(`The tags have ${limits.tags + 1} bytes as JSON, all together; at most ${limits.tags} fit.`);
    await run.terminate();
  });
});
