import { defined } from '../../contract/defined';
import type { Json } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { Step } from './steps';
import { goneText, nameOfStep, newText, shortTexts, valueOf } from './words';

export interface Difference {
  /** The address of a call, an interrupt or an isolated agent; for a sleep the address of the last call before. */
  readonly address: string;
  /** `command`: an open run would stop here. `request`: an open run would continue with a different request. */
  readonly kind: 'command' | 'request';
  /** Such as `instructions`, `tools`, `deadline` or `arguments`; for commands `missing`, `new`, `instead` or `failure`. */
  readonly what: string;
  readonly recorded?: Json;
  readonly today?: Json;
  /** The number of later equal differences in this execution. */
  readonly later: number;
  readonly message: string;
}

interface ComparedSteps {
  readonly recorded: readonly Step[];
  readonly today: readonly Step[];
  /** The task in which Temporal stopped the replay, or the code failed. */
  readonly stoppedIn?: number;
  readonly failed?: boolean;
}

/** In the order of the run. A change of the code counts once. */
export function differencesOf({ recorded, today, stoppedIn, failed = false }: ComparedSteps): readonly Difference[] {
  const last = stoppedIn ?? Infinity;
  const known = new Map(recorded.map((step) => [step.key, step]));
  const found = new Map<string, Changed>();
  for (const step of today) {
    const before = known.get(step.key);
    // A step that now comes too early cannot be compared.
    if (before === undefined || before.task > last) continue;
    for (const one of changesOf(before, step)) {
      const same = found.get(one.key);
      if (same === undefined) found.set(one.key, { ...one, later: 0 });
      else same.later += 1;
    }
  }
  const changed = [...found.values()].map((one) => differenceOf(one, !failed && one.step.task === last));
  if (failed) return changed;
  const commands = commandDifferences(
    recorded.filter(({ task, key }) => task <= last && !today.some((one) => one.key === key)),
    today.filter(({ key }) => !known.has(key) || (known.get(key)?.task ?? 0) > last),
    stoppedIn !== undefined,
  );
  // The commands already explain the stop of the replay.
  const stops = commands.some(({ kind }) => kind === 'command');
  return [...changed.map((one): Difference => (stops ? { ...one, kind: 'request' } : one)), ...commands];
}

interface Changed extends Omit<ChangedField, 'key'> {
  later: number;
}

interface ChangedField {
  readonly key: string;
  readonly step: Step;
  readonly what: string;
  readonly recorded: Json | undefined;
  readonly today: Json | undefined;
}

function changesOf(before: Step, step: Step): readonly ChangedField[] {
  const fields = [...new Set([...Object.keys(before.fields), ...Object.keys(step.fields)])];
  return fields.flatMap((what) => {
    if (same(before.fields[what], step.fields[what])) return [];
    const pairs = what === 'messages' ? messagePairs(before, step) : [valuePair(before, step, what)];
    // A conversation passes from agent to agent.
    const whose = what === 'messages' ? '' : `${step.kind} ${step.agent}`;
    return pairs.map(([recorded, today]) => ({ key: canonicalJson([whose, what, recorded, today]), step, what, recorded, today }));
  });
}

function valuePair(before: Step, step: Step, what: string): readonly [Json | undefined, Json | undefined] {
  const values = [valueOf(before, what), valueOf(step, what)] as const;
  if (what !== 'worker middleware') return values;
  const [was, is] = values.map(middlewareNames) as [readonly string[], readonly string[]];
  return same(was, is) ? values : [was, is];
}

function middlewareNames(value: Json | undefined): readonly string[] {
  return ((value ?? []) as readonly (string | { readonly name: string })[]).map((one) => (typeof one === 'string' ? one : one.name));
}

/** Without the common beginning and end. */
function messagePairs(before: Step, step: Step): readonly (readonly [Json | undefined, Json | undefined])[] {
  const [was, is] = [before, step].map(({ fields }) => fields['messages'] as readonly Json[]) as [readonly Json[], readonly Json[]];
  let start = 0;
  while (start < was.length && start < is.length && same(was[start], is[start])) start += 1;
  let end = 0;
  while (end < was.length - start && end < is.length - start && same(was.at(-1 - end), is.at(-1 - end))) end += 1;
  const [gone, come] = [was.slice(start, was.length - end), is.slice(start, is.length - end)];
  if (gone.length !== come.length) return [[gone, come]];
  return gone.flatMap((message, n) => (same(message, come[n]) ? [] : [[message, come[n]] as const]));
}

function differenceOf({ step, what, recorded, today, later }: Changed, stops: boolean): Difference {
  const [was, is] = shortTexts(recorded, today);
  const subject = step.kind === 'sleep' ? `sleep after ${step.address}` : nameOfStep(step);
  const others = later === 0 ? '' : later === 1 ? ' So does a later one.' : ` So do ${later} later ones.`;
  return {
    address: step.address,
    kind: stops ? 'command' : 'request',
    what,
    ...defined({ recorded, today }),
    later,
    message: `The ${subject} has ${otherOf(what)}: it was ${was}, and is ${is}.${others}`,
  };
}

const plural = /(?:[^s]s|middleware)$/;

function otherOf(what: string): string {
  return plural.test(what) ? `other ${what}` : `${/^[aeiou]/.test(what) ? 'an' : 'a'} changed ${what}`;
}

/** In the task that stopped the replay, new commands take the place of missing commands. */
function commandDifferences(missing: readonly Step[], added: readonly Step[], stopped: boolean): readonly Difference[] {
  const kind = stopped ? 'command' : 'request';
  const [gone, come] = [compared(missing, stopped), compared(added, stopped)];
  const [first] = gone;
  if (stopped && first !== undefined && come.length > 0) {
    const [recorded, today] = [gone.map(nameOfStep), come.map(nameOfStep)];
    const message = `The history has ${listed(recorded)} here. The code has ${listed(today)} instead.`;
    return [{ address: first.address, kind, what: 'instead', recorded, today, later: 0, message }];
  }
  return [
    ...gone.map((step) => ({
      ...at(step, kind, 'missing'),
      recorded: nameOfStep(step),
      message: goneText(step),
    })),
    ...come.map((step) => ({ ...at(step, kind, 'new'), today: nameOfStep(step), message: newText(step) })),
  ];
}

/** Activities of the run itself count only without other differences. */
function compared(steps: readonly Step[], stopped: boolean): readonly Step[] {
  const own = steps.filter(({ kind }) => kind !== 'activity');
  return own.length > 0 || !stopped ? own : steps;
}

function at({ address }: Step, kind: Difference['kind'], what: string): Pick<Difference, 'address' | 'kind' | 'what' | 'later'> {
  return { address, kind, what, later: 0 };
}

const mostNamed = 3;

function listed(steps: readonly string[]): string {
  const named = steps.slice(0, mostNamed).map((step) => `the ${step}`);
  return steps.length > mostNamed ? `${named.join(', ')} and ${steps.length - mostNamed} more` : named.join(' and ');
}

function same(a: unknown, b: unknown): boolean {
  return a === b || canonicalJson(a ?? null) === canonicalJson(b ?? null);
}
