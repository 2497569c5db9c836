import { policy } from 'holdfast/middleware';
import { applyPolicy as applyByCommand } from '../../../cli/commands/policy-commands';
import { EventLines } from '../../../cli/event-lines';
import { FoundService } from '../../../cli/found-service';
import type { ListedRun } from '../../../contract/service';
import type { WaitingRuns } from '../../../client/policies';
import { applyPolicy } from '../../../client/policies';
import { HoldfastError } from '../../../contract/errors';
import type { Interrupt } from '../../../contract/interrupts';
import type { PlannedStage } from '../../../contract/policies';
import { isPlan, policySourceOf } from '../../../contract/policies';
import { fails } from '../../support/memory-bed';
import { answerOf, appOn } from '../../support/service-app';
import { recordedTerminal } from '../../support/recorded-terminal';

const ofUsers = (...users: readonly string[]): object =>
  policy({ name: 'refunds', tools: ['refund'], stages: users.map((user) => ({ by: { users: [user] } })) });
const one = ofUsers('ada');
const two = ofUsers('ada', 'bob');
const versionOf = (of: object): string => policySourceOf(of)?.version ?? '';
const planOf = (of: object): readonly PlannedStage[] =>
  policySourceOf(of)?.plan({ tool: 'refund', input: {} }, { id: 'r', agent: 'a', values: {}, tags: [] }).stages ?? [];

function question(id: string, asking: object = one, name = 'refunds'): Interrupt {
  const asked = { name, version: versionOf(asking), stage: { number: 1, of: 1, need: 1 }, given: [], plan: planOf(asking) };
  return { id, address: [id], agent: 'a', kind: 'approval', tool: 'refund', callId: 'c', input: {}, inputHash: 'h', policy: asked };
}

function runsOf(all: Readonly<Record<string, readonly Interrupt[]>>, { busy = [] as string[], refusing = [] as string[] } = {}) {
  const applied: unknown[] = [];
  const rows = Object.entries(all).map(([id, interrupts]) => ({ id, agent: 'a', tags: [], interrupts })) as unknown as ListedRun[];
  const runs: WaitingRuns = {
    list: async ({ after = '0', status }) => {
      expect(status).toBe('waiting');
      const from = Number(after);
      const more = from + 2 < rows.length;
      return { runs: rows.slice(from, from + 2), more, ...(more ? { next: String(from + 2) } : {}) };
    },
    startOf: async () => undefined,
    shown: async (id) => (busy.includes(id) ? (all[id] ?? []) : []),
    run: (id) =>
      ({
        resume: async (...given: readonly unknown[]) => {
          if (refusing.includes(id)) throw new HoldfastError('run-stuck', `The run "${id}" is stuck.`);
          applied.push([id, ...given]);
        },
      }) as never,
  };
  return { runs, applied };
}

const rejecting =
  (code: 'run-ended' | 'interrupt-withdrawn'): WaitingRuns['run'] =>
  () =>
    ({ resume: () => Promise.reject(new HoldfastError(code, 'It takes no answer any more.')) }) as never;

const short = ({ runId, outcome, error }: { runId: string; outcome: string; error?: { code: string } }): string =>
  `${runId} ${outcome}${error === undefined ? '' : ` ${error.code}`}`;

describe('client.applyPolicy', () => {
  it('asks again page by page, says what became of each, and goes on behind one that fails', async () => {
    const fake = runsOf(
      { r1: [question('q1')], r2: [question('q2')], r3: [question('q3', two), question('q4', one, 'payouts')], r4: [question('q5')] },
      { busy: ['r4'], refusing: ['r1'] },
    );
    const first = await applyPolicy(fake.runs, two, { by: 'olga' });
    expect(first).toMatchObject({ policy: 'refunds', version: versionOf(two), more: true });
    const second = await applyPolicy(fake.runs, two, { by: 'olga', after: first.next ?? '' });
    expect(second).toMatchObject({ more: false });
    expect([...first.outcomes, ...second.outcomes].map(short)).toEqual(['r1 failed run-stuck', 'r2 asked', 'r3 unchanged', 'r4 left']);
    const answer = { type: 'apply-policy', version: versionOf(two) };
    expect(fake.applied).toEqual([
      ['r2', 'q2', answer, { by: 'olga' }],
      ['r4', 'q5', answer, { by: 'olga' }],
    ]);
  });

  it('looks again at a run that has been asked or answered since it was listed', async () => {
    const fake = runsOf({ r1: [question('q1')], r2: [question('q2')] });
    const later: Interrupt = { ...question('q1', two), id: 'q1-again' };
    const shown = async (id: string): Promise<readonly Interrupt[]> => (id === 'r1' ? [later] : []);
    expect((await applyPolicy({ ...fake.runs, shown, run: rejecting('interrupt-withdrawn') }, two)).outcomes.map(short)).toEqual([
      'r1 unchanged',
    ]);
  });

  it('says nothing of a run that has ended since it was listed, and that one that is being cancelled takes nothing', async () => {
    const fake = runsOf({ r1: [question('q1')], r2: [question('q2')] }, { busy: ['r2'] });
    expect((await applyPolicy({ ...fake.runs, run: rejecting('run-ended') }, two)).outcomes.map(short)).toEqual(['r2 failed run-ended']);
  });

  it('only says what would be asked in a dry run', async () => {
    const fake = runsOf({ r1: [question('q1')] });
    const { outcomes } = await applyPolicy(fake.runs, two, { dryRun: true });
    expect(outcomes).toMatchObject([{ outcome: 'asked', added: [{ by: { users: ['bob'] } }] }]);
    expect(fake.applied).toEqual([]);
  });

  it('tells of a policy whose functions throw, and of a run that cannot be read', async () => {
    const throwing = policy({ name: 'refunds', tools: ['refund'], stages: [{ by: fails('the directory is down') }] });
    expect((await applyPolicy(runsOf({ r1: [question('q1')] }).runs, throwing)).outcomes).toMatchObject([
      { outcome: 'failed', error: { message: 'the directory is down' } },
    ]);
    const { runs } = runsOf({ r1: [question('q1')] });
    const unreadable = { ...runs, startOf: () => Promise.reject(new HoldfastError('run-unreadable', 'Nobody can read it.')) };
    expect((await applyPolicy(unreadable, two)).outcomes.map(short)).toEqual(['r1 failed run-unreadable']);
  });

  it.each<[unknown, unknown]>([
    [{ stages: [] }, {}],
    [two, { dryRun: 'yes' }],
    [two, 3],
  ])('refuses %j with %j', async (given, options) => {
    await expect(applyPolicy(runsOf({}).runs, given as object, options as never)).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it.each([[[{}]], ['x'], [[{ ...planOf(one)[0], by: { users: [3] } }]], [[{ ...planOf(one)[0], onExpiry: 'later' }]]])(
    'takes %j for no stages, whoever wrote them into a memo',
    (plan) => expect(isPlan(plan)).toBe(false),
  );
});

describe('POST /policies/:name/apply', () => {
  const taken: unknown[] = [];
  const page = { policy: 'refunds', version: 'v', outcomes: [], more: false };
  const applyPolicy = (...given: readonly unknown[]) => Promise.resolve((taken.push(given), page));
  const app = appOn({ applyPolicy }, { policies: () => ({ refunds: two }) });
  const post = async (name: string, given: object): Promise<unknown> => {
    const { status, body } = await answerOf(app, 'POST', `/policies/${name}/apply`, given);
    return body.error?.code ?? status;
  };

  it('applies the policy that the configuration has now', async () => {
    expect(await post('refunds', { to: 'waiting', dryRun: true, by: 'olga', tag: ['night'], limit: 10, after: 'c' })).toBe(200);
    expect(taken.pop()).toEqual([two, { dryRun: true, by: 'olga', tag: ['night'], limit: 10, after: 'c' }]);
  });

  it.each<[string, object, string]>([
    ['payouts', { to: 'waiting' }, 'policy-unknown'],
    ['toString', { to: 'waiting' }, 'policy-unknown'],
    ['refunds', {}, 'request-invalid'],
    ['refunds', { to: 'all' }, 'request-invalid'],
    ['refunds', { to: 'waiting', limit: 0 }, 'request-invalid'],
  ])('refuses %s with %j', async (name, body, code) => expect(await post(name, body)).toBe(code));

  it('is listed with its version', async () => {
    const response = await app.request('/policies');
    expect(await response.json()).toEqual({ policies: [{ name: 'refunds', version: versionOf(two), tools: ['refund'] }] });
  });
});

describe('holdfast policy apply', () => {
  const [added] = planOf(ofUsers('bob'));
  const place = { interruptId: 'q', tool: 'refund', added: added === undefined ? [] : [added] };
  const error = { code: 'run-ended', message: 'It has ended.' };
  const outcomes = [
    { ...place, runId: 'r1', outcome: 'asked' as const },
    { ...place, runId: 'r2', outcome: 'unchanged' as const, added: [] },
    { ...place, runId: 'r3', outcome: 'left' as const },
    { ...place, runId: 'r4', outcome: 'failed' as const, added: [], error },
  ];
  const asked: unknown[] = [];
  class Fake extends FoundService {
    override async applyPolicy(name: string, body: object) {
      asked.push([name, body]);
      const from = Number((body as { after?: string }).after ?? 0);
      const isLast = from + 2 >= outcomes.length;
      return {
        policy: name,
        version: 'v2',
        outcomes: outcomes.slice(from, from + 2),
        more: !isLast,
        ...(isLast ? {} : { next: String(from + 2) }),
      };
    }
  }
  const played = async (flags: { dryRun?: boolean; json?: boolean; to?: string }): Promise<{ code: number; lines: string[] }> => {
    const terminal = recordedTerminal({ live: false });
    const code = await applyByCommand(new Fake('http://service'), terminal, 'refunds', { to: 'waiting', ...flags });
    return { code, lines: terminal.written().trimEnd().split('\n') };
  };

  it('goes over all pages, prints what became of each question, and fails where one failed', async () => {
    expect(await played({})).toEqual({
      code: 1,
      lines: [
        'r1 refund: asks again: bob',
        'r3 refund: asks again when a worker runs: bob',
        'r4 refund: run-ended: It has ended.',
        'refunds v2: 1 asked again, 1 unchanged, 1 left for a worker, 1 failed.',
      ],
    });
    expect(asked).toEqual([
      ['refunds', { to: 'waiting', limit: 100 }],
      ['refunds', { to: 'waiting', limit: 100, after: '2' }],
    ]);
  });

  it('says what would be asked, and prints JSON', async () => {
    expect((await played({ dryRun: true })).lines[0]).toBe('r1 refund: would ask: bob');
    expect((await played({ json: true })).lines.map((line) => (JSON.parse(line) as { runId: string }).runId)).toEqual([
      'r1',
      'r2',
      'r3',
      'r4',
    ]);
  });

  it('is no answer for those who follow the run', () => {
    const terminal = recordedTerminal({ live: false });
    const answer = { type: 'apply-policy', version: 'v2' };
    new EventLines(terminal).show({ type: 'interrupt-end', interruptId: 'q', answer, by: 'olga', reason: 'answer', offset: 1, time: 0 });
    expect(terminal.written()).toContain('q: asked again, as its policy was applied by olga');
  });

  it('applies to runs that wait, and to no others', async () => {
    await expect(played({ to: 'all' })).rejects.toMatchObject({ code: 'request-invalid' });
  });
});
