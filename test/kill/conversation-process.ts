import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import { textOf } from '../../contract/messages/messages';
import { servePayments } from './payment-tools';
import { serveOnRequest } from './serve-on-request';

async function answer({ messages, signal }: GenerateRequest): Promise<GenerateAnswer> {
  const usage = { inputTokens: 10, outputTokens: 5 };
  const last = messages.at(-1);
  const said = last === undefined ? '' : textOf(last);
  if (last?.role === 'user' && said.endsWith('Think.'))
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('Stopped.')), { once: true }));
  const amount = /Pay (\d+)\./.exec(said)?.[1];
  if (last?.role !== 'user' || amount === undefined) return { parts: [{ type: 'text', text: `Done: ${said}` }], usage };
  return { parts: [{ type: 'tool-call', id: `pay-${amount}`, name: 'refund', input: { orderId: amount, amount: Number(amount) } }], usage };
}

if (require.main === module) serveOnRequest(servePayments(answer));
