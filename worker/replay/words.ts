import { isRecord } from '../../contract/check';
import type { Failure, Json } from '../../contract/messages/messages';
import { cut } from '../../contract/shown';
import type { Step } from './steps';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

export function lengthText(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  let left = Math.round(ms / 1000) * 1000;
  const parts: string[] = [];
  for (const [unit, length] of units) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.join(' ');
}

export function nameOfStep({ kind, address, fields }: Step): string {
  switch (kind) {
    case 'model':
      return `model call ${address}`;
    case 'tool':
      return `tool call ${address}`;
    case 'activity':
      return `activity ${String(fields['activity'])} after ${address}`;
    case 'interrupt':
      return `${fields['kind'] === 'custom' ? 'interrupt' : String(fields['kind'])} ${address}`;
    case 'sleep':
      return `sleep of ${lengthText(Number(fields['length']))} after ${address}`;
    case 'agent':
      return `isolated agent ${address}`;
    case 'end':
      return `end of the run (${endOf(fields)})`;
  }
}

function endOf({ end, error }: Step['fields']): string {
  const { code, message } = (error ?? {}) as Partial<Failure>;
  return message === undefined ? String(end) : `${String(end)}: ${String(code)}, ${cut(message)}`;
}

const gone: Readonly<Record<Step['kind'], string>> = {
  model: 'is not made any more',
  tool: 'is not made any more',
  activity: 'is not made any more',
  interrupt: 'is not asked any more',
  sleep: 'is gone',
  agent: 'is not started any more',
  end: 'does not come any more',
};

export function goneText(step: Step): string {
  return `The ${nameOfStep(step)} ${gone[step.kind]}.`;
}

export function newText(step: Step): string {
  return `The ${nameOfStep(step)} is new.`;
}

/** Times as lengths, and named things by name. */
export function valueOf({ time, fields }: Step, field: string): Json | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  if (field === 'deadline') return lengthText(Number(value) - time);
  if (field === 'length') return lengthText(Number(value));
  if (field === 'worker middleware' && Array.isArray(value))
    return (value as readonly Json[]).map((one) => (isRecord(one) && one['options'] === undefined ? (one['name'] as string) : one));
  return value as Json;
}

const most = 120;
const before = 40;

/** Long values from their first difference. */
export function shortTexts(recorded: Json | undefined, today: Json | undefined): readonly [string, string] {
  const [was, is] = [textOf(recorded), textOf(today)];
  if (was.length <= most && is.length <= most) return [was, is];
  let same = 0;
  while (same < was.length && was[same] === is[same]) same += 1;
  const from = Math.max(0, same - before);
  return [part(was, from), part(is, from)];
}

function part(text: string, from: number): string {
  const cut = text.slice(from, from + most);
  return `${from > 0 ? '…' : ''}${cut}${from + most < text.length ? '…' : ''}`;
}

function textOf(value: Json | undefined): string {
  if (value === undefined) return 'none';
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.length === 0 ? 'none' : value.join(', ');
  return JSON.stringify(value);
}
