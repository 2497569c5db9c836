import { setTimeout as delay } from 'node:timers/promises';
import type { LanguageModel, ModelProvider } from 'holdfast/worker';
import { jobOf, planOf, ponderMs } from './jobs';
import { randomWords } from './words';

const failed = new Set<string>();

/** Says the time before its words. Of a job of the kind `retries` it fails the second turn, once in each process. */
const generate: LanguageModel['generate'] = async ({ messages, instructions }) => {
  const said = messages[0]?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '';
  const job = jobOf(said);
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  if (job.kind === 'retries' && turn === 1 && !failed.delete(job.id)) {
    failed.add(job.id);
    throw Object.assign(new Error('The model is overloaded.'), { statusCode: 503 });
  }
  if (job.kind === 'ponders') await delay(ponderMs);
  const calls = planOf(job).turns(job.id, instructions)[turn];
  const usage = { inputTokens: 100, outputTokens: 100 };
  if (calls === undefined) return { parts: [{ type: 'text', text: `Done: ${job.id}.` }], usage };
  const words = { type: 'text' as const, text: `${Date.now()} ${randomWords(500)}` };
  const parts = calls.map(({ tool, input }, position) => ({
    type: 'tool-call' as const,
    id: `call-${turn}-${position}`,
    name: tool,
    input: { ...input },
  }));
  return { parts: [words, ...parts], usage };
};

export const load: ModelProvider = { model: () => ({ generate }) };
