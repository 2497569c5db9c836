import type { Activation, Job, PlayedRun, Step } from './activations';
import { WorkflowActivation, WorkflowActivationJob } from './activations';

/** Other activations in the place of some that a history has. */
export interface Cut {
  readonly way: 'split' | 'split in time' | 'merge' | 'early';
  /** What is in each part, in words. */
  readonly kinds: string;
  /** The first activation that is another one, and how many are replaced. */
  readonly place: number;
  readonly replaced: number;
  readonly parts: readonly Activation[];
  /** Core makes such a cut only for a query without a task, and for these the code is not woken. */
  readonly isHeld: boolean;
}

/** Every cut of a run at one place, as Temporal's core may make it and as the hold does not see it. */
export function* cutsOf(run: PlayedRun): Generator<Cut> {
  const begun = beginnings(run.steps);
  for (const [place, { activation, before }] of pairsOf(run)) {
    const jobs = outsideOf(activation);
    if (jobs.length === 0) continue;
    const updates = jobs.filter(({ doUpdate }) => doUpdate);
    const signals = jobs.filter(({ signalWorkflow }) => signalWorkflow);
    const results = jobs.filter((job) => !isMessage(job));
    const cut = (way: Cut['way'], parts: readonly Activation[], apart: readonly (readonly Job[])[] = parts.map(outsideOf)): Cut => ({
      way,
      kinds: kindsOf(apart),
      place,
      replaced: way === 'merge' ? 2 : 1,
      parts,
      isHeld: isHeld(way, apart),
    });
    // Nobody knows whether a signal came before a result. An update comes with its task, so it is in the second part.
    for (let behind = 1; behind < (signals.length + 1) * (results.length + 1); behind++) {
      const [ofSignals, ofResults] = [behind % (signals.length + 1), Math.floor(behind / (signals.length + 1))];
      if (ofSignals + ofResults === jobs.length) continue;
      const first = [...signals.slice(0, ofSignals), ...results.slice(0, ofResults)];
      const rest = withJobs(
        activation,
        activation.jobs.filter((job) => !first.includes(job)),
      );
      yield cut('split', [earlier(before, withJobs(activation, first)), rest]);
      // A timer fires in its time, unless core gives its end to a query.
      if (first.some(({ fireTimer }) => fireTimer))
        yield cut('split in time', [earlier(before, withJobs(activation, first), activation.timestamp), rest]);
    }
    if (updates.length > 0) continue;
    yield cut('early', [earlier(before, activation)]);
    const next = run.steps[place + 1]?.activation;
    const later = next === undefined ? [] : outsideOf(next);
    // Today's core merges a task with the next one only where no event stands between the two, so that the next one brings nothing but updates. Results are
    // merged here, too: the door gives them in the same order. A signal would change its place.
    if (next === undefined || later.length === 0 || later.some(({ signalWorkflow }) => signalWorkflow)) continue;
    if (later.some((job) => (begun.get(askedFor(job) ?? '') ?? 0) >= place)) continue;
    yield cut('merge', [withJobs(next, [...activation.jobs, ...next.jobs].sort(byRank))], [jobs, later]);
  }
}

/** What core gives a run for a query that comes between events and their task: the events, with the time and the size of the task before. */
export function* queriedOf(run: PlayedRun): Generator<{ readonly place: number; readonly events: Activation; readonly query: Activation }> {
  for (const [place, { activation, before }] of pairsOf(run)) {
    const jobs = outsideOf(activation).filter(({ doUpdate }) => !doUpdate);
    if (jobs.length === 0) continue;
    const { timestamp, historySizeBytes } = before;
    const events = like(withJobs(activation, jobs), { timestamp, historySizeBytes, historyLength: before.historyLength + jobs.length });
    const query = WorkflowActivationJob.fromObject({
      queryWorkflow: { queryId: 'legacy_query', queryType: '__temporal_workflow_metadata' },
    });
    yield { place, events, query: withJobs(events, [query]) };
  }
}

function* pairsOf({
  steps,
}: PlayedRun): Generator<[place: number, pair: { readonly activation: Activation; readonly before: Activation }]> {
  for (const [place, { activation }] of steps.entries()) {
    const before = steps[place - 1]?.activation;
    if (before !== undefined) yield [place, { activation, before }];
  }
}

/** With the time of the task before. The history has another size, as if a task had started: otherwise the code would not be woken. */
function earlier(before: Activation, activation: Activation, timestamp = before.timestamp): Activation {
  const { historyLength, historySizeBytes, continueAsNewSuggested } = before;
  return like(activation, {
    timestamp,
    historyLength: historyLength + 1,
    historySizeBytes: historySizeBytes.add(1),
    continueAsNewSuggested,
  });
}

function withJobs(activation: Activation, jobs: readonly Job[]): Activation {
  return like(activation, { jobs: jobs.map((job) => WorkflowActivationJob.fromObject(job)) });
}

function like(activation: Activation, changes: Partial<Activation>): Activation {
  return WorkflowActivation.fromObject({ ...activation, ...changes });
}

/** What came from outside. The rest is of the task. */
function outsideOf({ jobs }: Activation): readonly Job[] {
  return jobs.filter((job) => rankOf(job) >= 2);
}

const isMessage = ({ signalWorkflow, doUpdate }: Job): boolean => Boolean(signalWorkflow ?? doUpdate);

/** The order of core: what is of the task, messages, all else. */
function rankOf(job: Job): number {
  if (isMessage(job)) return 2;
  const { initializeWorkflow, notifyHasPatch, updateRandomSeed, queryWorkflow, removeFromCache } = job;
  if (initializeWorkflow) return 0;
  return (notifyHasPatch ?? updateRandomSeed ?? queryWorkflow ?? removeFromCache) ? 1 : 3;
}

const byRank = (one: Job, other: Job): number => rankOf(one) - rankOf(other);

/** The places where the code asked for what jobs bring. */
function beginnings(steps: readonly Step[]): ReadonlyMap<string, number> {
  const begun = new Map<string, number>();
  for (const [place, { commands }] of steps.entries())
    for (const command of commands) {
      const { startTimer, scheduleActivity, startChildWorkflowExecution: child, signalExternalWorkflowExecution: signal } = command;
      const { requestCancelExternalWorkflowExecution: cancel } = command;
      for (const [kind, asked] of Object.entries({ timer: startTimer, activity: scheduleActivity, child, signal, cancel }))
        if (asked) begun.set(`${kind} ${asked.seq}`, place);
    }
  return begun;
}

function askedFor(job: Job): string | undefined {
  const { fireTimer, resolveActivity, resolveSignalExternalWorkflow: signal, resolveRequestCancelExternalWorkflow: cancel } = job;
  const child = job.resolveChildWorkflowExecution ?? job.resolveChildWorkflowExecutionStart;
  for (const [kind, result] of Object.entries({ timer: fireTimer, activity: resolveActivity, child, signal, cancel }))
    if (result) return `${kind} ${result.seq}`;
  return undefined;
}

/** A signal apart from a result that may have come before, and a timer that fires before its time. */
function isHeld(way: Cut['way'], [first = [], second = []]: readonly (readonly Job[])[]): boolean {
  const isCutOff = first.some(({ signalWorkflow }) => signalWorkflow) && second.some((job) => !isMessage(job));
  return isCutOff || ((way === 'split' || way === 'early') && first.some(({ fireTimer }) => fireTimer));
}

function kindsOf(parts: readonly (readonly Job[])[]): string {
  return parts
    .map((jobs) =>
      jobs
        .map(kindOf)
        .join(', ')
        .replace(/([a-z ]+)(, \1)+(?=,|$)/g, '$1+'),
    )
    .join(' | ');
}

function kindOf(job: Job): string {
  if (job.signalWorkflow) return 'signal';
  if (job.doUpdate) return 'update';
  if (job.fireTimer) return 'timer';
  if (job.resolveActivity) return 'activity';
  if (job.resolveChildWorkflowExecutionStart) return 'start of a child';
  if (job.resolveChildWorkflowExecution) return 'end of a child';
  if (job.resolveSignalExternalWorkflow) return 'sent signal';
  return job.cancelWorkflow ? 'cancel' : 'other';
}
