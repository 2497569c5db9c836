import { z } from 'zod';
import type { AnswerOptions } from '../../client/runs/answers';
import type { Outcome } from '../../client/reading/outcome';
import { defineTool } from '../../activities/tools/tools';
import type { Interrupt } from '../../contract/interrupts';
import type { Json, StoredMessage } from '../../contract/messages/messages';
import { policy } from '../../middleware/index';
import { Random } from '../parity/random';

type Fate = 'not asked' | 'approve' | 'edit' | 'edit last' | 'reject' | 'respond' | 'delegate' | 'reject last';

export interface Batch {
  readonly random: Random;
  readonly calls: readonly { readonly name: 'refund'; readonly input: { readonly orderId: string; readonly amount: number } }[];
  readonly fates: readonly Fate[];
}

const fates: readonly Fate[] = ['not asked', 'approve', 'edit', 'edit last', 'reject', 'respond', 'delegate', 'reject last'];

export function randomBatch(seed: string): Batch {
  const random = new Random(seed);
  const chosen = random.list(1 + random.below(6), () => random.of(fates));
  const calls = chosen.map((fate, at) => ({
    name: 'refund' as const,
    input: { orderId: `o${at}`, amount: fate === 'not asked' ? 10 : 100 + at },
  }));
  return { random, calls, fates: chosen };
}

export const ofTwo = policy({
  name: 'refunds',
  tools: ['refund'],
  when: ({ input }) => (input as { readonly amount: number }).amount > 50,
  stages: [{ by: { users: ['ada', 'abe'] } }, { by: { users: ['bob', 'ben'] } }],
});

export function payingTool(paid: string[]): ReturnType<typeof defineTool> {
  return defineTool({
    description: 'Pays money back.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
    effect: 'idempotent',
    execute: ({ orderId, amount }) => (paid.push(`${orderId} ${amount}`), `paid ${amount} for ${orderId}`),
  }) as ReturnType<typeof defineTool>;
}

export interface DecidedRun {
  outcome(options?: { timeout?: string }): Promise<Outcome<unknown>>;
  resume(interruptId: string, answer: Json, options?: AnswerOptions): Promise<void>;
  transcript(): Promise<readonly StoredMessage[]>;
}

export async function decideBatch(run: DecidedRun, { random, fates: chosen }: Batch): Promise<void> {
  for (;;) {
    const outcome = await run.outcome();
    if (outcome.status !== 'waiting') return;
    const interrupt = random.of(outcome.interrupts);
    if (interrupt.kind !== 'approval') throw new Error(interrupt.kind);
    const { answer, by } = decisionOf(interrupt, chosen);
    await run.resume(interrupt.id, answer, { by, inputHash: interrupt.inputHash });
  }
}

function decisionOf(interrupt: Extract<Interrupt, { kind: 'approval' }>, chosen: readonly Fate[]): { answer: Json; by: string } {
  const { orderId, amount } = interrupt.input as { readonly orderId: string; readonly amount: number };
  const fate = chosen[Number(orderId.slice(1))];
  const { stage, given } = interrupt.policy ?? { stage: undefined, given: [] };
  const isLast = stage?.number === 2;
  const [by = ''] = interrupt.by ?? [];
  const edited = { type: 'approve', editedInput: { orderId, amount: amount + 1000 } };
  const isEdited = amount >= 1000;
  switch (fate) {
    case 'edit':
      return { by, answer: isLast || isEdited ? { type: 'approve' } : edited };
    case 'edit last':
      return { by, answer: isLast && !isEdited ? edited : { type: 'approve' } };
    case 'reject':
      return { by, answer: { type: 'reject', feedback: `no to ${orderId}` } };
    case 'reject last':
      return { by, answer: isLast ? { type: 'reject', feedback: `no to ${orderId}` } : { type: 'approve' } };
    case 'respond':
      return { by, answer: { type: 'respond', output: `said ${orderId}` } };
    case 'delegate':
      return { by, answer: given.some(({ type }) => type === 'delegate') ? { type: 'approve' } : { type: 'delegate', to: 'dora' } };
    default:
      return { by, answer: { type: 'approve' } };
  }
}

export function approvedIn({ calls, fates: chosen }: Batch): readonly string[] {
  return calls.flatMap(({ input: { orderId, amount } }, at) => {
    const fate = chosen[at];
    if (fate === 'reject' || fate === 'reject last' || fate === 'respond') return [];
    return [`${orderId} ${fate === 'edit' || fate === 'edit last' ? amount + 1000 : amount}`];
  });
}

export function resultsIn(transcript: readonly StoredMessage[]): readonly { readonly callId: string; readonly output: Json }[] {
  return transcript.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? [{ callId: part.callId, output: part.output }] : [])),
  );
}

export function wordsOf({ calls, fates: chosen }: Batch): readonly string[] {
  return calls.map(({ input: { orderId, amount } }, at) => {
    const fate = chosen[at];
    if (fate === 'reject' || fate === 'reject last') return `no to ${orderId}`;
    if (fate === 'respond') return `said ${orderId}`;
    return `paid ${fate === 'edit' || fate === 'edit last' ? amount + 1000 : amount} for ${orderId}`;
  });
}
