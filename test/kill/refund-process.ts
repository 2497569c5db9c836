/** A worker for refund-agents.ts. Refunds go to a payment server under the call's key. See serve-on-request.ts. */
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import type { Json } from '../../contract/messages/messages';
import { servePayments } from './payment-tools';
import { serveOnRequest } from './serve-on-request';

const refund = (id: string, amount: number): GenerateAnswer['parts'][number] => ({
  ...{ type: 'tool-call', id, name: 'refund' },
  input: { orderId: id, amount },
});

const turns: readonly GenerateAnswer['parts'][] = [
  [{ type: 'tool-call', id: 'ask', name: 'askHuman', input: { question: 'Which orders?', options: ['all', 'none'] } as Json }],
  [refund('small', 10), refund('twice', 80), refund('edited', 120), refund('rejected', 200), refund('handed', 90)],
  [refund('alike', 70)],
  [{ type: 'text', text: 'All is paid.' }],
];

async function answer({ messages }: GenerateRequest): Promise<GenerateAnswer> {
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  return { parts: turns[turn] ?? [], usage: { inputTokens: 10, outputTokens: 5 } };
}

if (require.main === module) serveOnRequest(servePayments(answer));
