import { createHash } from 'node:crypto';
import type { ScheduleOptions } from '@temporalio/client';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import type { Form, Forms } from '../../contract/check';
import {
  anything,
  both,
  checkFields,
  bound,
  duration,
  filled,
  flag,
  form,
  func,
  identifier,
  isRecord,
  isString,
  misfit,
  oneOf,
  refusing,
  required,
  shape,
  whole,
} from '../../contract/check';
import type { Signed } from '../../contract/access';
import { defined } from '../../contract/defined';
import { defaultConcurrency } from '../../contract/batches';
import { parseDuration } from '../../contract/duration';
import { HoldfastError, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { canonicalJson } from '../../contract/messages/messages';
import { names, nameProblem, workflowIdOf } from '../../contract/names';
import { tagsProblem } from '../../contract/run-options';
import type { StartInput } from '../../contract/record/wire';
import type { BatchSchedule, ConfiguredSchedule, Overlap, ScheduleTimes, ScheduledStart } from '../../contract/schedules';
import { overlaps } from '../../contract/schedules';
import { shown } from '../../contract/shown';
import { batchOperation } from '../runs/batch-operation';
import { startInputOf } from '../runs/start-input';
import { hashOfStart, startOperation } from '../runs/start-operation';
import { cronExpressions, cronProblem } from './cron';

/** Part of the hash: another number applies all schedules of configurations anew. */
const format = 1;
const leastMs = 10_000;

/** In the memo of the action, and so of each run: the server gives neither cron texts back nor changes the memo of a schedule. */
export interface ScheduleMark extends ScheduleTimes, Signed {
  readonly overlap: Overlap;
  readonly catchUp: string;
  readonly deadline?: string;
  readonly source: 'config' | 'api';
  readonly hash: string;
}

export interface ScheduleOwner extends Pick<StartInput, 'tenant' | 'externalStorage'> {
  readonly taskQueue: string;
}

export type WantedSchedule = Pick<ScheduleOptions, 'spec' | 'action' | 'policies'> & { readonly mark: ScheduleMark };

const lasting: Form = both(
  duration,
  form((value) => {
    const milliseconds = parseDuration(value as string) ?? 0;
    return milliseconds >= leastMs && milliseconds % 1000 === 0;
  }, 'whole seconds, and at least "10s"'),
);

const cron: Form = {
  wanted: 'five parts such as "0 2 * * *"',
  problem: (value, option) => {
    if (!isString(value)) return misfit(option, cron.wanted, value);
    const problem = cronProblem(value);
    return problem === undefined ? undefined : `${option} ${shown(value)} ${problem}`;
  },
};

const startForms: Forms<ScheduledStart> = {
  agent: required(identifier),
  input: required(anything),
  tags: anything,
  values: anything,
  model: anything,
  deadline: anything,
};

const batchForms: Forms<BatchSchedule['batch']> = {
  agent: required(identifier),
  lines: required(func),
  concurrency: whole(1, limits.batchConcurrency),
  perMinute: bound,
  tags: anything,
};

const forms: Forms<ConfiguredSchedule> = {
  cron,
  every: lasting,
  zone: form(isZone, 'the name of a time zone such as "Europe/Berlin"'),
  start: shape(startForms),
  batch: shape(batchForms),
  overlap: oneOf(...overlaps),
  catchUp: lasting,
  jitter: duration,
  paused: flag,
  note: filled,
};

/** The server knows a zone only with its capitals. */
function isZone(value: unknown): boolean {
  if (!isString(value) || !/^[A-Z]/.test(value)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions();
    return timeZone === value || timeZone.toLowerCase() !== value.toLowerCase();
  } catch {
    return false;
  }
}

/** Everything is checked here, because the server answers a bare TypeError. */
export function checkSchedule(name: string, spec: unknown): asserts spec is ConfiguredSchedule {
  const refuse = refusing(`The schedule ${shown(name)}`, 'schedule-invalid');
  const misnamed = nameProblem(name);
  if (misnamed !== undefined) refuse(`${misnamed}.`);
  if (!isRecord(spec)) return refuse(`it must be an object, not ${shown(spec)}.`);
  checkFields(spec, forms, refuse);
  if ((spec['cron'] === undefined) === (spec['every'] === undefined)) refuse('it needs either cron or every.');
  if ((spec['start'] === undefined) === (spec['batch'] === undefined)) refuse('it needs either start or batch.');
  if (spec['every'] !== undefined && spec['zone'] !== undefined) refuse('zone belongs to cron, and every needs none.');
}

/** Returns a sentence. */
export function problemOfSchedule(name: string, spec: unknown): string | undefined {
  try {
    checkSchedule(name, spec);
    wantedSchedule(name, spec, { tenant: 'any', taskQueue: 'any' }, { source: 'config' });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const temporalOverlap: Readonly<Record<Overlap, ScheduleOverlapPolicy>> = {
  skip: ScheduleOverlapPolicy.SKIP,
  'buffer-one': ScheduleOverlapPolicy.BUFFER_ONE,
  'buffer-all': ScheduleOverlapPolicy.BUFFER_ALL,
  'cancel-other': ScheduleOverlapPolicy.CANCEL_OTHER,
  'terminate-other': ScheduleOverlapPolicy.TERMINATE_OTHER,
  'allow-all': ScheduleOverlapPolicy.ALLOW_ALL,
};

export function wantedSchedule(
  name: string,
  { start, batch, ...declared }: ConfiguredSchedule,
  owner: ScheduleOwner,
  set: Signed & Pick<ScheduleMark, 'source'>,
): WantedSchedule {
  const { cron: text, every, zone = 'UTC', overlap = 'skip', catchUp = '1h', jitter } = declared;
  const { memo, ...action } = start === undefined ? batchAction(name, batch, owner) : runAction(name, start, owner, set.by);
  const deadline = start?.deadline;
  const mark: ScheduleMark = {
    ...declared,
    ...defined({ deadline }),
    overlap,
    catchUp,
    ...(text === undefined ? {} : { zone }),
    ...set,
    hash: createHash('sha256')
      .update(canonicalJson([format, declared, action.args, deadline ?? null, owner.taskQueue]))
      .digest('hex'),
  };
  return {
    spec: {
      ...(text === undefined ? {} : { cronExpressions: cronExpressions(text), timezone: zone }),
      ...(every === undefined ? {} : { intervals: [{ every: parseDuration(every) ?? 0 }] }),
      ...defined({ jitter: jitter === undefined ? undefined : parseDuration(jitter) }),
    },
    action: { ...action, type: 'startWorkflow', memo: { ...memo, [names.memo.schedule]: mark } },
    policies: { overlap: temporalOverlap[overlap], catchupWindow: parseDuration(catchUp) ?? 0 },
    mark,
  };
}

/** Each run or batch has the id of its workflow, which the server makes of the time. */
function runAction(
  name: string,
  { agent, input, deadline, ...options }: ScheduledStart,
  { tenant, taskQueue, externalStorage }: ScheduleOwner,
  // Four eyes exclude the starter, so runs of a schedule that a person has set are runs of the person.
  by: string = proofOf(name),
) {
  const made = startInputOf(defined({ tenant, agent, externalStorage }), input, { ...options, ...defined({ deadline }), id: name, by });
  const start: StartInput = { ...made, id: '', proof: proofOf(name) };
  const { workflowIdReusePolicy: _, ...operation } = startOperation(start, taskQueue, hashOfStart(start, input), defined({ deadline }));
  return { ...operation, workflowType: names.workflow, workflowId: workflowIdOf(tenant, name) };
}

function batchAction(
  name: string,
  { lines: _, tags = [], concurrency = defaultConcurrency, ...options }: BatchSchedule['batch'],
  { tenant, taskQueue }: ScheduleOwner,
) {
  const refused = tagsProblem(tags);
  if (refused !== undefined) throw new HoldfastError('schedule-invalid', refused);
  const head = { ...options, id: name, tags, concurrency, lines: 0, hash: '', store: '', chunks: 0 };
  const proof = proofOf(name);
  return {
    ...batchOperation(head, { tenant, taskQueue, author: { by: proof, proof }, schedule: name }),
    workflowType: names.batchWorkflow,
  };
}

function proofOf(name: string): string {
  return `schedule:${name}`;
}
