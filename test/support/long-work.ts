import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import type { Message } from '../../contract/messages/messages';
import { estimateTokens } from '../../middleware/token-count';
import { lineOf } from './memory-bed';

const said = 1500;
export const contentPerTurn = 3 * said;
export const task = 'Work on order 42.';

export class LongWork {
  turn = 0;
  summaries = 0;
  largest = 0;
  readonly problems: string[] = [];

  constructor(private readonly turns: number) {}

  readonly generate = async ({ instructions, messages }: GenerateRequest): Promise<GenerateAnswer> => {
    this.problems.push(...problemsOf(messages).map((problem) => `turn ${this.turn}: ${problem}`));
    if (instructions.startsWith('You summarize')) {
      this.summaries += 1;
      return {
        parts: [{ type: 'text', text: `Up to turn ${this.turn}. <all_user_messages></all_user_messages>` }],
        usage: usageOf(messages),
      };
    }
    this.largest = Math.max(this.largest, estimateTokens(messages));
    if (this.turn === 0 || this.summaries <= 1) this.mustSay(messages, task);
    if (this.turn >= this.turns) return { parts: [{ type: 'text', text: 'Done.' }], usage: usageOf(messages) };
    this.turn += 1;
    const text = `${this.turn} `.padEnd(said, String(this.turn % 10));
    return { parts: [{ type: 'tool-call', id: `call-${this.turn}`, name: 'echo', input: { text } }], usage: usageOf(messages) };
  };

  private mustSay(messages: readonly Message[], text: string): void {
    if (!messages.map(lineOf).join('\n').includes(text)) this.problems.push(`turn ${this.turn}: the model no longer knows its task`);
  }
}

function usageOf(messages: readonly Message[]): { inputTokens: number; outputTokens: number } {
  return { inputTokens: estimateTokens(messages), outputTokens: Math.ceil(said / 4) };
}

function problemsOf(messages: readonly Message[]): readonly string[] {
  const problems: string[] = [];
  const ids = messages.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) problems.push('a message stands there twice');
  let open: string[] = [];
  for (const { role, parts } of messages) {
    for (const part of parts) {
      if (part.type === 'tool-result' && !open.includes(part.callId)) problems.push(`the result of ${part.callId} has no call before it`);
      if (part.type === 'tool-result') open = open.filter((id) => id !== part.callId);
    }
    if (role !== 'tool' && open.length > 0) problems.push(`the call ${open.join(', ')} has no result`);
    for (const part of parts) if (part.type === 'tool-call') open.push(part.id);
  }
  if (open.length > 0) problems.push(`the call ${open.join(', ')} has no result`);
  return problems;
}
