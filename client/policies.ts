import { personName } from '../contract/people';
import type { PolicyOutcome, PolicyPage, ListedRun, RunPage } from '../contract/service';
import type { ErrorCode } from '../contract/errors';
import { codeOf, messageOf, HoldfastError } from '../contract/errors';
import { bound, flag } from '../contract/check';
import { defined } from '../contract/defined';
import type { Interrupt } from '../contract/interrupts';
import type { Failure } from '../contract/messages/messages';
import type { PolicyRun, PolicySource } from '../contract/policies';
import { addedBy, policySourceOf } from '../contract/policies';
import type { StartInput } from '../contract/record/wire';
import type { ListOptions } from './listing/list-options';
import { optionsOf } from './connection/options';
import type { Run } from './runs/run';

export interface ApplyPolicyOptions extends Pick<ListOptions, 'agent' | 'tag' | 'startedBy' | 'since' | 'until' | 'after'> {
  readonly dryRun?: boolean;
  /** The name of the author. */
  readonly by?: string;
  /** The most waiting runs. Default 50, at most 1,000. */
  readonly limit?: number;
}

type Asking = Extract<Interrupt, { kind: 'approval' }> & {
  readonly policy: NonNullable<Extract<Interrupt, { kind: 'approval' }>['policy']>;
};

export interface WaitingRuns {
  list(options: ListOptions): Promise<RunPage>;
  run(id: string): Run;
  startOf(id: string): Promise<StartInput | undefined>;
  shown(id: string): Promise<readonly Interrupt[]>;
}

const runsAtOnce = 8;

export async function applyPolicy(runs: WaitingRuns, policy: object, options: ApplyPolicyOptions = {}): Promise<PolicyPage> {
  const source = policySourceOf(policy);
  if (source === undefined) throw new HoldfastError('request-invalid', 'applyPolicy takes what policy({ … }) returns.');
  const { dryRun = false, by, ...list } = optionsOf(options, 'applyPolicy', { dryRun: flag, by: personName, limit: bound });
  const page = await runs.list({ ...list, status: 'waiting' });
  const outcomes: (readonly PolicyOutcome[])[] = [];
  const rows = page.runs.entries();
  const work = async (): Promise<void> => {
    for (const [position, run] of rows) outcomes[position] = await applyTo({ runs, source, run, dryRun, by });
  };
  await Promise.all(Array.from({ length: runsAtOnce }, work));
  const { more, next } = page;
  return { policy: source.name, version: source.version, outcomes: outcomes.flat(), more, ...defined({ next }) };
}

interface Application {
  readonly runs: WaitingRuns;
  readonly source: PolicySource;
  readonly run: ListedRun;
  readonly dryRun: boolean;
  readonly by: string | undefined;
}

async function applyTo(application: Application): Promise<readonly PolicyOutcome[]> {
  const { runs, source, run } = application;
  const asking = run.interrupts.filter((interrupt): interrupt is Asking => isAsking(interrupt, source));
  if (asking.length === 0) return [];
  const outcomes: PolicyOutcome[] = [];
  try {
    const about = aboutOf(run, asking.every(({ policy }) => policy.version === source.version) ? undefined : await runs.startOf(run.id));
    for (const interrupt of asking) outcomes.push(...(await applyToOne(application, interrupt, about)));
  } catch (error) {
    const [{ id, tool } = { id: '', tool: '' }] = asking.slice(outcomes.length);
    outcomes.push({ runId: run.id, interruptId: id, tool, outcome: 'failed', added: [], error: failureOf(error) });
  }
  return outcomes;
}

function isAsking(interrupt: Interrupt, { name }: PolicySource): interrupt is Asking {
  return interrupt.kind === 'approval' && interrupt.policy?.plan !== undefined && interrupt.policy.name === name;
}

function aboutOf({ id, tags, startedBy }: ListedRun, start: StartInput | undefined): Omit<PolicyRun, 'agent'> {
  return { id, values: start?.values ?? {}, tags, ...defined({ startedBy }) };
}

async function applyToOne(
  { runs, source, run, dryRun, by }: Application,
  interrupt: Asking,
  about: Omit<PolicyRun, 'agent'>,
  isFresh = false,
): Promise<readonly PolicyOutcome[]> {
  const place = { runId: run.id, interruptId: interrupt.id, tool: interrupt.tool };
  try {
    const added = addedBy(source, interrupt, about);
    if (added.length === 0) return [{ ...place, outcome: 'unchanged', added }];
    if (dryRun) return [{ ...place, outcome: 'asked', added }];
    await runs.run(run.id).resume(interrupt.id, { type: 'apply-policy', version: source.version }, defined({ by }));
    const isLeft = (await runs.shown(run.id)).some(({ id }) => id === interrupt.id);
    return [{ ...place, outcome: isLeft ? 'left' : 'asked', added }];
  } catch (error) {
    if (isFresh || !gone.includes(codeOf(error) ?? 'internal'))
      return [{ ...place, outcome: 'failed', added: [], error: failureOf(error) }];
    // The listed interrupt may be answered or asked again.
    const now = (await runs.shown(run.id)).find((one): one is Asking => isAsking(one, source) && isSameCall(one, interrupt));
    return now === undefined ? [] : applyToOne({ runs, source, run, dryRun, by }, now, about, true);
  }
}

const gone: readonly ErrorCode[] = ['interrupt-unknown', 'interrupt-withdrawn', 'interrupt-answered', 'run-ended'];

function isSameCall(one: Asking, other: Asking): boolean {
  return one.callId === other.callId && one.address.join('/') === other.address.join('/');
}

function failureOf(error: unknown): Failure {
  return { code: codeOf(error) ?? 'run-failed', message: messageOf(error) };
}
