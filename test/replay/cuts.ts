import type { Activation, Job, PlayedRun, Step } from './activations';
import { WorkflowActivation, WorkflowActivationJob } from './activations';

export interface Cut {
  readonly way: 'split' | 'split in time' | 'merge' | 'early';
  readonly kinds: string;
  readonly place: number;
  readonly replaced: number;
  readonly parts: readonly Activation[];
  /** Core makes the cut only for a query without a task, and the hold does not wake the code. */
  readonly isHeld: boolean;
}

/** All cuts of a run at one place that core may make and the hold does not see. */
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
    // The order of signals and results is unknown. Updates come with their task, in the second part.
    for (let behind = 1; behind < (signals.length + 1) * (results.length + 1); behind++) {
      const [ofSignals, ofResults] = [behind % (signals.length + 1), Math.floor(behind / (signals.length + 1))];
      if (ofSignals + ofResults === jobs.length) continue;
      const first = [...signals.slice(0, ofSignals), ...results.slice(0, ofResults)];
      const rest = withJobs(
        activation,
        activation.jobs.filter((job) => !first.includes(job)),
      );
      yield cut('split', [earlier(before, withJobs(activation, first)), rest]);
      // A timer fires in time, unless core gives its end to a query.
      if (first.some(({ fireTimer }) => fireTimer))
        yield cut('split in time', [earlier(before, withJobs(activation, first), activation.timestamp), rest]);
    }
    if (updates.length > 0) continue;
    yield cut('early', [earlier(before, activation)]);
    const next = run.steps[place + 1]?.activation;
    const later = next === undefined ? [] : outsideOf(next);
    // Core merges tasks only without events in between, so the next brings only updates. Results are merged too, because the door keeps
    // their order. A signal would move, and a cancel ends commands of its own task only.
    if (next === undefined || later.length === 0 || later.some(({ signalWorkflow, cancelWorkflow }) => signalWorkflow ?? cancelWorkflow))
      continue;
    if (later.some((job) => (begun.get(askedFor(job) ?? '') ?? 0) >= place)) continue;
    yield cut('merge', [withJobs(next, [...activation.jobs, ...next.jobs].sort(byRank))], [jobs, later]);
  }
}

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

/** Keeps the earlier task's time. The history size changes, because otherwise the code would not wake. */
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

function outsideOf({ jobs }: Activation): readonly Job[] {
  return jobs.filter((job) => rankOf(job) >= 2);
}

const isMessage = ({ signalWorkflow, doUpdate }: Job): boolean => Boolean(signalWorkflow ?? doUpdate);

/** Core's order: the task's own jobs, messages, the rest. */
function rankOf(job: Job): number {
  if (isMessage(job)) return 2;
  const { initializeWorkflow, notifyHasPatch, updateRandomSeed, queryWorkflow, removeFromCache } = job;
  if (initializeWorkflow) return 0;
  return (notifyHasPatch ?? updateRandomSeed ?? queryWorkflow ?? removeFromCache) ? 1 : 3;
}

const byRank = (one: Job, other: Job): number => rankOf(one) - rankOf(other);

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

/** A signal apart from an earlier result, or a timer before its time. */
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
