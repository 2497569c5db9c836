import type { CancelFacts, CancelMode, CancelRequest } from '../contract/cancel';
import { defined } from '../contract/defined';
import type { RunEvent } from '../contract/events';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

const points: Readonly<Record<CancelMode, string>> = {
  now: 'now',
  'after-model': 'after the model',
  'after-tools': 'after the tools',
};

export function cancelRequestText({ modes, withinMs, recursive, reason, by }: CancelRequest): string {
  const within = withinMs === undefined ? '' : `, within ${withinMs / 1000} s`;
  const only = recursive ? '' : ', agents below it first';
  return `${modes.map((mode) => points[mode]).join(' or ')}${within}${only}${byAndWhy(by, reason)}`;
}

export function cancelStartText({ mode, escalated, reason, by }: CancelFacts): string {
  return `${points[mode]}${escalated === true ? ', its time is up' : ''}${byAndWhy(by, reason)}`;
}

export function cancelledText({ mode, escalated, ...who }: Partial<CancelFacts>): string {
  const isUsual = mode === undefined || (mode === 'now' && escalated !== true);
  return isUsual ? byAndWhy(who.by, who.reason) : `, ${cancelStartText({ mode, ...defined({ escalated }), ...who })}`;
}

const answers: Readonly<Record<EventOf<'tool-reconcile'>['said'], string>> = {
  happened: 'it took effect',
  'not-happened': 'it did not take effect',
  unknown: 'it does not know whether it took effect',
  nothing: 'it says nothing',
  failed: 'it could not say whether it took effect',
};

export function reconcileText({ said, error }: EventOf<'tool-reconcile'>): string {
  return `${answers[said]}${error === undefined ? '' : `: ${error}`}`;
}

function byAndWhy(by: string | undefined, reason: string | undefined): string {
  return `${by === undefined ? '' : `, by ${by}`}${reason === undefined ? '' : `: ${reason}`}`;
}
