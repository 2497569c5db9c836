import { personName } from '../../contract/people';
import { filled, flag, form, isString, oneOf, worded } from '../../contract/check';
import type { CancelMode, CancelRequest } from '../../contract/cancel';
import { cancelModes } from '../../contract/cancel';
import { defined } from '../../contract/defined';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import { limits } from '../../contract/limits';
import { anyOf } from '../../contract/shown';
import type { Authority } from '../connection/authority';
import { optionsOf } from '../connection/options';

export interface CancelOptions {
  /** Where the run stops: at the first of these places. Default: `now`. */
  readonly mode?: CancelMode | readonly CancelMode[];
  /** How long the run waits for a safe point, such as "30s". Then the run stops at once. */
  readonly within?: string;
  /** False: agents below the root agent end first. Default: true. */
  readonly recursive?: boolean;
  /** The reason, for the record of the run. */
  readonly reason?: string;
  readonly by?: string;
}

/**
 * `in-time`: the run stopped where asked. `escalated`: the time was up before a safe point. `ended-first`: the run ended before the cancel.
 */
export type CancelOutcome = 'in-time' | 'escalated' | 'ended-first';

export interface CancelReceipt {
  /** Waits for the end of the run, and returns the outcome of the cancel. */
  settled(): Promise<CancelOutcome>;
}

const oneMode = oneOf(...cancelModes);
const mode = form(
  (value) => (Array.isArray(value) && value.length > 0 ? value : [value]).every((one) => oneMode.problem(one, 'mode') === undefined),
  `${anyOf(cancelModes)}, or a list of them`,
);

export function cancelRequestOf(options: CancelOptions, acting?: Pick<Authority, 'author'>): CancelRequest | undefined {
  const given = optionsOf<CancelOptions>(options, 'cancel', {
    mode,
    within: worded(filled, 'a duration such as "30s"'),
    recursive: flag,
    reason: form(
      (value) => isString(value) && value !== '' && value.length <= limits.cancelReason,
      `a text of at most ${limits.cancelReason} characters`,
    ),
    by: personName,
  });
  const { by, proof } = acting?.author({ by: given.by }) ?? { by: given.by };
  if (by === undefined && Object.values(given).every((value) => value === undefined)) return undefined;
  const { mode: modes = 'now', within, recursive = true, reason } = given;
  const asked = typeof modes === 'string' ? [modes] : cancelModes.filter((one) => modes.includes(one));
  const withinMs = within === undefined ? undefined : millisecondsOf(within, 'request-invalid');
  if (withinMs !== undefined && asked.includes('now') && recursive)
    throw new HoldfastError('request-invalid', 'cancel: within is for safe points, and now waits for none. Leave one of them out.');
  return { modes: asked, recursive, ...defined({ withinMs, reason, by, proof }) };
}

export function cancelOutcomeOf({
  status,
  escalated,
}: Pick<Extract<RunEvent, { type: 'run-end' }>, 'status' | 'escalated'>): CancelOutcome {
  if (status !== 'cancelled') return 'ended-first';
  return escalated === true ? 'escalated' : 'in-time';
}

interface CancelledRun {
  readonly id: string;
  events(options: { readonly deltas: false }): AsyncGenerator<RunEvent>;
  view(): Promise<Pick<RunView, 'status'>>;
}

/** An earlier cancel of a resumed run does not count. */
export async function cancelOutcomeAfter(since: number, run: CancelledRun): Promise<CancelOutcome> {
  for await (const event of run.events({ deltas: false }))
    if (event.type === 'run-end' && event.time >= since) return cancelOutcomeOf(event);
  throw new HoldfastError('request-invalid', `The run "${run.id}" has not ended: it is ${(await run.view()).status}.`);
}
