import { join } from 'node:path';
import type { AnswerOptions } from '../../client/runs/answers';
import type { Run } from '../../client/runs/run';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import type { Scenario } from './chaos-bed';
import type { PaymentServer } from './payment-server';

interface Decision {
  readonly answer: Json;
  readonly who: AnswerOptions;
}

const patienceMs = 120_000;
const support = { by: 'sue', roles: ['support'] };

export function refundScenario(payments: PaymentServer): Scenario {
  return {
    program: 'refund-process',
    agents: join('test', 'kill', 'refund-agents.ts'),
    agent: 'refunds',
    input: 'Pay back what is owed.',
    by: 'kim',
    hasParallelCalls: true,
    placeOf: (_, queue) => `${payments.url}#${queue}`,
    effectsIn: (place) => {
      const run = place.split('#')[1] ?? '';
      return payments.receipts.filter(({ key }) => key.startsWith(`${run}/`)).map(({ key, amount }) => `${key} ${amount}`);
    },
    attend,
  };
}

async function attend(run: Run): Promise<void> {
  for await (const event of run.events({ deltas: false, signal: AbortSignal.timeout(patienceMs) })) {
    if (event.type !== 'interrupt-start') continue;
    const { answer, who } = decisionAbout(event.interrupt);
    await run.resume(event.interrupt.id, answer, who);
  }
}

function decisionAbout(interrupt: Interrupt): Decision {
  if (interrupt.kind !== 'approval') return { answer: 'all', who: support };
  const { callId, inputHash, policy } = interrupt;
  const isSupport = policy?.stage.number === 1;
  const given = policy?.given.map(({ by }) => by) ?? [];
  const next = ['ada', 'bob', 'cleo'].find((name) => !given.includes(name)) ?? 'ada';
  const who = { ...(isSupport ? support : { by: next }), inputHash };
  if (isSupport) return { answer: { type: 'approve', comment: 'Seen.', ...(callId === 'twice' ? { upTo: 100 } : {}) }, who };
  if (callId === 'rejected' && next === 'bob') return { answer: { type: 'reject', feedback: 'Too much.' }, who };
  if (callId === 'handed' && next === 'ada') return { answer: { type: 'delegate', to: 'emil' }, who };
  const isEdited = JSON.stringify(interrupt.input).includes('100');
  if (callId === 'edited' && next === 'bob' && !isEdited)
    return { answer: { type: 'approve', editedInput: { orderId: 'edited', amount: 100 } }, who };
  return { answer: { type: 'approve', ...(callId === 'twice' ? { upTo: 100 } : {}) }, who };
}
