/**
 * A worker with `once` tools that pay over HTTP: `pay` can reconcile, `refund` cannot. Prints `ready`, and `before RUN` or `after RUN` at a
 * held request.
 */
import { z } from 'zod';
import { currentCall } from '../../activities/calls/call-context';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import type { ToolCallContext } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/tools';
import { textOf } from '../../contract/messages/messages';
import { runIdOf } from '../../contract/names';
import { fixtureTools } from '../fixtures/tools';
import type { Receipt } from './payment-server';
import { drainOnSigterm, runMain, say, workerWith } from './program';
import type { ProgramSettings } from './program-settings';
import type { RefundPolicy } from './refund-policies';
import { refundPolicies } from './refund-policies';

export interface PaymentSettings extends ProgramSettings {
  readonly payments: string;
  readonly holds: boolean;
  readonly policy?: RefundPolicy;
}

export interface PaymentCall {
  readonly id: string;
  readonly tool: 'pay' | 'refund';
  readonly amount: number;
  readonly hold?: 'before' | 'after';
}

export type PaymentScript = readonly (readonly PaymentCall[])[];

const settings = JSON.parse(process.argv[2] ?? '{}') as PaymentSettings;

const inputSchema = z.object({ amount: z.number(), hold: z.enum(['before', 'after']).optional() });
type Input = z.infer<typeof inputSchema>;

async function reach(point: 'before' | 'after', { hold }: Input): Promise<void> {
  if (!settings.holds || hold !== point) return;
  say(`${point} ${runIdOf(currentCall()?.workflowId ?? '')}`);
  await new Promise(() => undefined);
}

async function execute(input: Input, call: ToolCallContext): Promise<Receipt> {
  await reach('before', input);
  const response = await fetch(`${settings.payments}/payments`, {
    method: 'POST',
    headers: { 'idempotency-key': call.idempotencyKey },
    body: JSON.stringify({ amount: input.amount }),
    signal: call.signal,
  });
  const receipt = (await response.json()) as Receipt;
  await reach('after', input);
  return receipt;
}

const tools = {
  ...fixtureTools,
  pay: defineTool({
    description: 'Pays once, and can be asked whether it did.',
    inputSchema,
    effect: 'once',
    execute,
    reconcile: async (_input, call) => {
      const response = await fetch(`${settings.payments}/payments/${encodeURIComponent(call.idempotencyKey)}`);
      return response.ok ? { happened: true, result: (await response.json()) as Receipt } : { happened: false };
    },
  }),
  refund: defineTool({ description: 'Pays once, and nobody can say whether it did.', inputSchema, effect: 'once', execute }),
};

async function answer({ messages }: GenerateRequest): Promise<GenerateAnswer> {
  const script = JSON.parse(textOf(messages[0] as GenerateRequest['messages'][number])) as PaymentScript;
  const calls = script[messages.filter(({ role }) => role === 'assistant').length];
  if (calls === undefined) return { parts: [{ type: 'text', text: 'Done.' }] };
  return { parts: calls.map(({ id, tool, ...input }) => ({ type: 'tool-call', id, name: tool, input })) };
}

async function main(): Promise<void> {
  const worker = await workerWith(settings, {
    tools,
    models: { providers: { test: { model: () => ({ generate: answer }) } } },
    ...(settings.policy === undefined ? {} : { policies: { refunds: refundPolicies[settings.policy] } }),
  });
  drainOnSigterm(() => worker.shutdown());
  say('ready');
  await worker.run();
}

runMain(main);
