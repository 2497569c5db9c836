import { isRecord } from '../contract/check';
import { isPolicyApplied } from '../contract/decisions';
import { defined } from '../contract/defined';
import type { RunEvent } from '../contract/events';

interface RunStep {
  readonly kind: 'model' | 'tool' | 'asks' | 'agent';
  readonly what: string;
  /** Without the first agent of the run. */
  readonly runPath: readonly string[];
  readonly from: number;
  readonly to?: number;
  readonly note?: string;
}

type Draft = { -readonly [Field in keyof RunStep]: RunStep[Field] };

export function stepsOf(events: readonly RunEvent[]): readonly RunStep[] {
  const steps = new Steps();
  const approvals = new Set<string>();
  for (const event of events) take(event, steps, approvals);
  return steps.all;
}

class Steps {
  readonly all: Draft[] = [];
  private readonly open = new Map<string, Draft>();

  begin(key: string, step: Draft): void {
    this.all.push(step);
    this.open.set(key, step);
  }

  end(key: string, to: number, more: Partial<Pick<Draft, 'what' | 'note'>>): void {
    const step = this.open.get(key);
    this.open.delete(key);
    if (step !== undefined) Object.assign(step, { to }, more);
  }

  endAll(to: number): void {
    for (const key of [...this.open.keys()]) this.end(key, to, {});
  }
}

function take(event: RunEvent, steps: Steps, approvals: Set<string>): void {
  const { time } = event;
  switch (event.type) {
    case 'model-start':
      // A call of a voided attempt may have no end.
      steps.end(modelKey(event), time, { note: 'asked again' });
      return steps.begin(modelKey(event), { kind: 'model', what: '', runPath: event.runPath, from: time });
    case 'model-end': {
      const { usage, finish, model } = event;
      const tokens = usage === undefined ? undefined : `${usage.inputTokens} in, ${usage.outputTokens} out`;
      const note = [tokens, finish].filter((part) => typeof part === 'string').join(', ');
      return steps.end(modelKey(event), time, { what: model, ...(note === '' ? {} : { note }) });
    }
    case 'model-retry':
      return steps.end(modelKey(event), time, { note: event.error.message });
    case 'tool-start':
      return steps.begin(`tool ${event.address}`, { kind: 'tool', what: event.tool, runPath: event.runPath, from: time });
    case 'tool-end':
      return steps.end(`tool ${event.address ?? ''}`, time, defined({ note: event.error?.message }));
    case 'agent-start': {
      const { agent, runPath, run } = event;
      return steps.begin(`agent ${runPath.join('/')}`, { kind: 'agent', what: agent, runPath, from: time, ...defined({ note: run }) });
    }
    case 'agent-end':
      return steps.end(`agent ${event.runPath.join('/')}`, time, defined({ note: event.error?.message }));
    case 'interrupt-start':
      if (event.interrupt.kind === 'approval') approvals.add(event.interrupt.id);
      return steps.begin(`asks ${event.interrupt.id}`, { kind: 'asks', what: event.interrupt.id, runPath: [], from: time });
    case 'interrupt-end':
      return steps.end(`asks ${event.interruptId}`, time, { note: endingOf(event, approvals.has(event.interruptId)) });
    case 'run-end':
      return steps.endAll(time);
    default:
  }
}

const decided = { approve: 'approved', reject: 'rejected', respond: 'answered in place of the tool', delegate: 'handed on' } as const;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function endingOf({ answer, by, reason }: Extract<RunEvent, { type: 'interrupt-end' }>, isApproval: boolean): string {
  if (reason !== 'answer') return reason === 'deadline' ? 'nobody answered in time' : 'withdrawn';
  const who = by === undefined ? '' : ` by ${by}`;
  if (isPolicyApplied(answer)) return `asked again, as its policy was applied${who}`;
  if (!isApproval || !isRecord(answer)) return `answered${who}`;
  const { type, editedInput, feedback, comment } = answer;
  const what = decided[type as keyof typeof decided];
  const changed = editedInput === undefined ? '' : `, with ${JSON.stringify(editedInput)}`;
  const words = text(feedback) || text(comment);
  return `${what}${who}${changed}${words === '' ? '' : `: ${words}`}`;
}

/** An agent has one model call at a time. */
function modelKey({ runPath }: { readonly runPath: readonly string[] }): string {
  return `model ${runPath.join('/')}`;
}
