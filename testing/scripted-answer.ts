import { setImmediate as otherCode } from 'node:timers/promises';
import type { ModelChunk } from '../activities/models/chunks';
import type { GenerateAnswer } from '../activities/models/models';
import type { Part, ToolCall, Usage } from '../contract/messages/messages';

export interface Said {
  readonly texts: readonly string[];
  readonly calls: readonly ToolCall[];
  readonly usage?: Usage;
  readonly error?: Error;
}

export function wholeAnswer({ texts, calls, usage, error }: Said): GenerateAnswer {
  if (error !== undefined) throw error;
  const parts = [...(texts.length === 0 ? [] : [{ type: 'text' as const, text: texts.join('') }]), ...calls.map(partOf)];
  return usage === undefined ? { parts } : { parts, usage };
}

/** Other code runs between pieces, as with a provider. */
export async function* streamedAnswer(next: () => Promise<Said>): AsyncGenerator<ModelChunk> {
  const said = await next();
  for (const chunk of chunksOf(said)) {
    await otherCode();
    yield chunk;
  }
  if (said.error !== undefined) throw said.error;
}

function* chunksOf({ texts, calls, usage, error }: Said): Generator<ModelChunk> {
  const spent = usage === undefined ? {} : { usage };
  for (const text of texts) yield { type: 'text', text };
  for (const call of calls) {
    yield { type: 'tool-input-start', callId: call.id, tool: call.name };
    for (const text of bitsOf(JSON.stringify(call.input))) yield { type: 'tool-input', callId: call.id, text };
    yield { type: 'part', part: partOf(call) };
  }
  if (error === undefined) yield { type: 'finish', ...spent };
  else if (usage !== undefined) yield { type: 'usage', usage };
}

function partOf({ id, name, input }: ToolCall): Part {
  return { type: 'tool-call', id, name, input };
}

export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? [text];
}

function bitsOf(json: string): readonly string[] {
  return json.match(/.{1,8}/gsu) ?? [];
}
