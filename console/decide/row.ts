import { isRecord } from '../../contract/check';
import { externalCallIn } from '../../contract/external-calls';
import type { Interrupt } from '../../contract/interrupts';
import type { ListedInterrupt } from '../../client/http/index';
import { keyOfInterrupt } from '../data/interrupt-key';
import { decideTexts } from '../texts/decide';

export interface AskingRow {
  readonly key: string;
  readonly listed: ListedInterrupt;
  /** In milliseconds since 1970. */
  readonly goneAt?: number;
  /** The interrupt came while a person was about to choose. */
  readonly isFresh?: true;
}

export const rowSorts = ['oldest', 'newest', 'deadline'] as const;
export type RowSort = (typeof rowSorts)[number];

export function rowOf(listed: ListedInterrupt): AskingRow {
  return { key: keyOfInterrupt(listed.runId, listed.interrupt.id), listed };
}

export function titleOf(interrupt: Interrupt): string {
  if (interrupt.kind === 'approval') return interrupt.tool;
  const call = externalCallIn(interrupt);
  if (call !== undefined) return call.tool;
  const { info } = interrupt;
  if (interrupt.kind === 'in-doubt' && isRecord(info) && typeof info['tool'] === 'string') return info['tool'];
  if (isRecord(info)) for (const name of ['question', 'title', 'reason']) if (typeof info[name] === 'string') return info[name];
  if (typeof info === 'string') return info;
  return decideTexts.kinds[interrupt.kind];
}

export function policyOf(interrupt: Interrupt): string | undefined {
  return interrupt.kind === 'approval' ? interrupt.policy?.name : undefined;
}

export function summaryOf(interrupt: Interrupt): string {
  const value = interrupt.kind === 'approval' ? interrupt.input : (externalCallIn(interrupt)?.input ?? inputIn(interrupt.info));
  if (!isRecord(value)) return typeof value === 'string' ? value.slice(0, 200) : '';
  const fields = Object.entries(value).slice(0, 6);
  return fields
    .map(([name, item]) => `${name} ${typeof item === 'string' ? item.slice(0, 80) : JSON.stringify(item).slice(0, 80)}`)
    .join(', ');
}

function inputIn(info: unknown): unknown {
  return isRecord(info) ? (info['input'] ?? info['details']) : undefined;
}

const since = ({ waitingSince }: ListedInterrupt): number => (waitingSince === undefined ? 0 : Date.parse(waitingSince));

export function compareRows(sort: RowSort): (one: AskingRow, other: AskingRow) => number {
  return ({ listed: one, key: oneKey }, { listed: other, key: otherKey }) => {
    const byTime = since(one) - since(other);
    const byDeadline = (one.interrupt.deadline ?? Infinity) - (other.interrupt.deadline ?? Infinity);
    const order = sort === 'newest' ? -byTime : sort === 'deadline' && byDeadline !== 0 && !Number.isNaN(byDeadline) ? byDeadline : byTime;
    return order !== 0 ? order : oneKey < otherKey ? -1 : 1;
  };
}
