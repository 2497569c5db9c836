import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { Step } from './steps';
import { nameOfStep, valueOf } from './words';

/** All requests of a run, by address, for snapshots of test runners. A later request of an agent shows only its changes. */
export function askedText(steps: readonly Step[]): string {
  const last = new Map<string, Step>();
  const blocks = steps.flatMap((step) => {
    if (step.kind === 'activity') return [];
    const before = step.kind === 'model' ? last.get(step.agent) : undefined;
    if (step.kind === 'model') last.set(step.agent, step);
    return [[titleOf(step), ...linesOf(step, before)].join('\n')];
  });
  return blocks.join('\n\n');
}

function titleOf(step: Step): string {
  return step.kind === 'model' || step.kind === 'tool' ? step.address : nameOfStep(step);
}

const told: Readonly<Partial<Record<Step['kind'], readonly string[]>>> = {
  tool: ['tool'],
  interrupt: ['kind'],
  sleep: ['length'],
  end: ['end'],
};

function linesOf(step: Step, before: Step | undefined): readonly string[] {
  const fields = [...new Set([...Object.keys(before?.fields ?? {}), ...Object.keys(step.fields)])];
  return fields
    .filter((field) => told[step.kind]?.includes(field) !== true)
    .flatMap((field) => {
      if (field === 'messages') return messageLines(step, before);
      const value = valueOf(step, field);
      if (before !== undefined && canonicalJson(value) === canonicalJson(valueOf(before, field))) return [];
      return fieldLines(field, value);
    });
}

function fieldLines(field: string, value: Json | undefined): readonly string[] {
  const text = value === undefined ? 'none' : typeof value === 'string' ? value : namesIn(value);
  const [first = '', ...more] = text.split('\n');
  return more.length === 0 ? [`  ${field}: ${first}`] : [`  ${field}:`, ...[first, ...more].map((line) => `    ${line}`.trimEnd())];
}

function namesIn(value: Json): string {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(', ') : canonicalJson(value);
}

function messageLines(step: Step, before: Step | undefined): readonly string[] {
  const [was, is] = [before, step].map((one) => (one?.fields['messages'] ?? []) as readonly Json[]) as [readonly Json[], readonly Json[]];
  let start = 0;
  while (start < was.length && start < is.length && canonicalJson(was[start]) === canonicalJson(is[start])) start += 1;
  const known = start === 0 ? [] : [`    (${start} as before)`];
  return ['  messages:', ...known, ...is.slice(start).flatMap(linesOfMessage)];
}

function linesOfMessage(message: Json): readonly string[] {
  const { role, parts = [], ...more } = message as { role?: string; parts?: readonly Json[] };
  const extra = Object.keys(more).length === 0 ? [] : [canonicalJson(more)];
  const texts = [...parts.map(textOfPart), ...extra].join('\n').split('\n');
  return texts.map((line, n) => (n === 0 ? `    ${role ?? ''}: ${line}` : `      ${line}`).trimEnd());
}

function textOfPart(part: Json): string {
  if (!isRecord(part)) return canonicalJson(part);
  const { type, ...rest } = part;
  const { text, name } = rest as { text?: string; name?: string };
  if (type === 'text' && Object.keys(rest).length === 1) return text ?? '';
  if (type === 'tool-call') return `calls ${name} ${canonicalJson(rest['input'])}`;
  if (type === 'tool-result' && rest['isError'] !== true) return `${name} gave ${canonicalJson(rest['output'])}`;
  return canonicalJson(part);
}
