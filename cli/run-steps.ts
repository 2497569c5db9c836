import { isRecord } from '../contract/check';
import { isPolicyApplied } from '../contract/decisions';
import { defined } from '../contract/defined';
import type { RunEvent } from '../contract/events';

export interface RunStep {
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
  const steps: Draft[] = [];
  const open = new Map<string, Draft>();
  const approvals = new Set<string>();
  const begin = (key: string, step: Draft): void => {
    steps.push(step);
    open.set(key, step);
  };
  const end = (key: string, to: number, more: Partial<Pick<Draft, 'what' | 'note'>>): void => {
    const step = open.get(key);
    open.delete(key);
    if (step !== undefined) Object.assign(step, { to }, more);
  };
  for (const event of events) {
    const { time } = event;
    switch (event.type) {
      case 'model-start':
        // A call of a voided attempt may have no end.
        end(modelKey(event), time, { note: 'asked again' });
        begin(modelKey(event), { kind: 'model', what: '', runPath: event.runPath, from: time });
        break;
      case 'model-end': {
        const { usage, finish, model } = event;
        const tokens = usage === undefined ? undefined : `${usage.inputTokens} in, ${usage.outputTokens} out`;
        const note = [tokens, finish].filter((part) => typeof part === 'string').join(', ');
        end(modelKey(event), time, { what: model, ...(note === '' ? {} : { note }) });
        break;
      }
      case 'model-retry':
        end(modelKey(event), time, { note: event.error.message });
        break;
      case 'tool-start':
        begin(`tool ${event.address}`, { kind: 'tool', what: event.tool, runPath: event.runPath, from: time });
        break;
      case 'tool-end':
        end(`tool ${event.address ?? ''}`, time, defined({ note: event.error?.message }));
        break;
      case 'agent-start':
        begin(`agent ${event.runPath.join('/')}`, {
          kind: 'agent',
          what: event.agent,
          runPath: event.runPath,
          from: time,
          ...defined({ note: event.run }),
        });
        break;
      case 'agent-end':
        end(`agent ${event.runPath.join('/')}`, time, defined({ note: event.error?.message }));
        break;
      case 'interrupt-start':
        if (event.interrupt.kind === 'approval') approvals.add(event.interrupt.id);
        begin(`asks ${event.interrupt.id}`, { kind: 'asks', what: event.interrupt.id, runPath: [], from: time });
        break;
      case 'interrupt-end':
        end(`asks ${event.interruptId}`, time, { note: endingOf(event, approvals.has(event.interruptId)) });
        break;
      case 'run-end':
        for (const key of [...open.keys()]) end(key, time, {});
        break;
      default:
    }
  }
  return steps;
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
