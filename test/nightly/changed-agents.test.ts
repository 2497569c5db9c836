import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Difference, Replayed } from 'holdfast/testing';
import { recordHistory, replayHistories } from 'holdfast/testing';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { bundleAgents } from '../../worker/bundle/bundle';
import type { Answerer, TestBed } from '../support/test-bed';
import { calls, script, startTestBed, testServer, text } from '../support/test-bed';
import { eventually, openTemporal } from '../support/temporal';

const source = `
import { agentsFor, parallel } from 'holdfast/workflow';
import { approval, pii } from 'holdfast/middleware';

const { defineAgent, defineMiddleware } = agentsFor();
const model = 'test/model';

/** Notes each call. */
const noted = defineMiddleware({
  name: 'noted',
  wrapToolCall: async (call, next, ctx) => {
    ctx.sendEvent('noted', call.name);
    return next(call);
  },
});

export const clerk = defineAgent({
  name: 'clerk',
  description: 'Settles refunds.',
  instructions: 'You settle refunds.',
  model,
  tools: ['lookupOrder', 'refund', 'swift'],
  middleware: [
    noted,
    approval({ tools: { refund: { when: (input) => input.amount > 50, expires: '3d' } } }),
    pii({ email: 'redact' }),
  ],
});

const part = (name) => defineAgent({ name, description: 'A voice.', instructions: \`You are \${name}.\`, model, tools: [] });
export const panel = parallel({ name: 'panel', description: 'Voices.', agents: [part('ada'), part('bob'), part('cleo')] });
`;

const refund = { name: 'refund', input: { orderId: '42', amount: 80 } };
const settles = script(
  calls({ name: 'lookupOrder', input: { orderId: '42' } }, { name: 'swift', input: { letter: 'a', times: 3 } }),
  calls(refund),
  text('Settled.'),
);
const answer: Answerer = (request) => (request.instructions.includes('refunds') ? settles(request) : text('Well said.'));

// Every change of the agents makes another bundle.
jest.setTimeout(240_000);

const folder = mkdtempSync(join(tmpdir(), 'holdfast-changes-'));
const histories = join(folder, 'histories');
const addresses = (differences: readonly Difference[]): readonly string[] => [
  ...new Set(differences.map(({ address, what }) => `${address}: ${what}`)),
];

const agents = join(folder, 'agents.ts');
function bundleOf(text: string): Promise<WorkflowBundle> {
  writeFileSync(agents, text);
  return bundleAgents(agents);
}

async function replayed(text: string, changes: 'commands' | 'requests' = 'requests'): Promise<Readonly<Record<string, Replayed>>> {
  const all = await replayHistories({ bundle: await bundleOf(text), agents, histories, changes });
  return Object.fromEntries(all.map((one) => [one.id, one]));
}

function changed(from: string, to: string): string {
  expect(source).toContain(from);
  return source.replace(from, to);
}

describe('replays of real runs', () => {
  let bed: TestBed | undefined;
  beforeAll(async () => {
    mkdirSync(histories);
    const { client } = (bed = await startTestBed(answer, { bundle: await bundleOf(source), agents }));
    const temporal = await openTemporal();
    const server = testServer();
    const record = (id: string, name: string) => recordHistory({ server, id, file: join(histories, `${name}.json`) });

    const clerk = await client.start('clerk', 'Refund order 42 of bob@example.com.');
    expect((await clerk.outcome()).status).toBe('waiting');
    await record(clerk.id, 'waiting');
    await temporal.goOnAsNew(clerk.id);
    // The answer comes after the first task of the second part.
    await eventually(async () => {
      const { events } = await temporal.handle(clerk.id).fetchHistory();
      expect(events?.some(({ workflowTaskCompletedEventAttributes: completed }) => completed != null)).toBe(true);
    });
    const [asked] = await clerk.interrupts();
    await clerk.approve(asked!.id, { by: 'ada' });
    expect(await clerk.result()).toBe('Settled.');
    expect(await record(clerk.id, 'chain')).toEqual([join(histories, 'chain.json')]);
    const panel = await client.start('panel', 'Speak.');
    await panel.result();
    await record(panel.id, 'panel');
    await temporal.close();
  });
  afterAll(async () => {
    await bed?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('find nothing where no agent changed, nor where only comments and formatting did', async () => {
    const reformatted = source
      .replace('/** Notes each call. */', '// Says which tool is called.\n\n/* And nothing else. */')
      .replace(/\n {2}/g, '\n\t\t')
      .replace(/',\n/g, "' /* as before */,\n");
    for (const text of [source, reformatted]) {
      const found = await replayed(text);
      expect(Object.keys(found)).toEqual(['chain.1', 'chain.2', 'panel', 'waiting']);
      for (const { differences, error } of Object.values(found)) expect([differences, error]).toEqual([[], undefined]);
    }
  });

  it('find another expiry, which stops no run', async () => {
    const { waiting } = await replayed(changed("'3d'", "'1h'"), 'requests');
    expect(waiting?.differences).toEqual([
      {
        address: 'clerk/t2/refund.0/noted/next1/approval',
        kind: 'request',
        what: 'deadline',
        recorded: '3d',
        today: '1h',
        later: 0,
        message: 'The approval clerk/t2/refund.0/noted/next1/approval has a changed deadline: it was "3d", and is "1h".',
      },
    ]);
    expect(waiting?.error).toMatchObject({ code: 'requests-changed' });
  });

  it('find that pii is gone, in each part of a run that went on as new', async () => {
    const found = await replayed(changed("    pii({ email: 'redact' }),\n", ''), 'commands');
    expect(addresses(found['waiting']!.differences)).toEqual([
      'clerk/t1/model: worker middleware',
      'clerk/t1/model: messages',
      'clerk/t1/lookupOrder.0: worker middleware',
    ]);
    expect(JSON.stringify(found['waiting']!.differences)).toContain('bob@example.com');
    expect(addresses(found['chain.1']!.differences)).toContain('clerk/t1/model: worker middleware');
    // Open runs would continue, so the difference is an error only if requests are compared.
    expect(found['waiting']!.error).toBeUndefined();
    // A continue-as-new in the middle of a turn enters code that no longer exists.
    expect(found['chain.2']!.error?.code).toBe('frame-changed');
    expect(addresses(found['chain.2']!.differences)).toEqual(['clerk: new']);
  });

  it('find a tool less', async () => {
    const { panel, waiting } = await replayed(changed("['lookupOrder', 'refund', 'swift']", "['lookupOrder', 'refund']"));
    expect(addresses(waiting!.differences)).toContain('clerk/t1/model: tools');
    expect(waiting?.differences.filter(({ kind }) => kind === 'command')).toMatchObject([{ address: 'clerk/t1/swift.1' }]);
    expect(panel?.differences).toEqual([]);
  });

  it('find an added sleep, with the call that it comes before', async () => {
    const { waiting } = await replayed(changed('    return next(call);', "    await ctx.sleep('1m');\n    return next(call);"));
    expect(waiting?.differences).toMatchObject([
      {
        kind: 'command',
        address: 'clerk/t1/lookupOrder.0',
        what: 'instead',
        today: expect.arrayContaining(['sleep of 1m after clerk/t1/model']),
      },
    ]);
  });

  it('find that a parallel agent is gone', async () => {
    const { panel, waiting } = await replayed(changed(", part('cleo')]", ']'));
    expect(panel?.differences).toMatchObject([
      { kind: 'command', address: 'panel/cleo/t1/model', message: 'The model call panel/cleo/t1/model is not made any more.' },
    ]);
    expect(waiting?.differences).toEqual([]);
  });

  it('have all that a run asks for as a text for snapshots', async () => {
    const { waiting } = await replayed(source);
    expect(waiting?.asked).toMatch(
      /^clerk\/t1\/model\n {2}model: test\/model\n {2}instructions: You settle refunds\.\n {2}tools: lookupOrder, refund, swift\n/,
    );
    expect(waiting?.asked).toContain('\n\nclerk/t1/lookupOrder.0\n  arguments: {"orderId":"42"}\n');
    expect(waiting?.asked).toContain('\n\nclerk/t1/swift.1\n  arguments: {"letter":"a","times":3}');
    expect(waiting?.asked).toContain('\n\napproval clerk/t2/refund.0/noted/next1/approval\n  tool: refund\n  deadline: 3d\n');
    expect(waiting?.asked).toBe((await replayed(source))['waiting']?.asked);
    expect(JSON.stringify(waiting)).not.toContain('asked');
  });

  it('end an endless loop, with a code and the place, and go on with the next history', async () => {
    const endless = changed('    return next(call);', '    for (;;) await Promise.resolve();');
    const { panel, waiting } = await replayed(endless);
    expect(waiting?.error).toMatchObject({
      code: 'agent-endless',
      message: expect.stringMatching(/^The code after clerk\/t1\/model goes on without a pause: /) as string,
    });
    expect(waiting?.differences).toMatchObject([{ address: 'clerk/t1/model', what: 'failure' }]);
    expect([panel?.differences, panel?.error]).toEqual([[], undefined]);
  });

  it('have the code and the place of code that throws', async () => {
    const { waiting } = await replayed(changed('    return next(call);', "    throw new Error('out of order');"));
    expect(waiting?.error).toMatchObject({ code: 'frame-changed' });
    expect(waiting?.differences.at(-1)).toMatchObject({ kind: 'command', address: 'clerk/t1/lookupOrder.0' });
  });

  it('save no history of a run that there is not', async () => {
    const file = join(folder, 'none.json');
    const server = testServer();
    await expect(recordHistory({ server, id: 'nobody', file })).rejects.toMatchObject({
      code: 'run-unknown',
      fix: expect.stringContaining('id'),
    });
    await expect(recordHistory({ address: '127.0.0.1:1', id: 'nobody', file })).rejects.toMatchObject({ code: 'server-unreachable' });
  });
});
