import { setTimeout } from 'node:timers/promises';
import type { Json, Message, Part } from '../../../contract/messages/messages';
import { textOf } from '../../../contract/messages/messages';
import type { ModelChunk, GenerateAnswer, GenerateRequest, ModelProvider } from '../language-model';
import { chunksOf } from '../chunks';
import type { ToolSpec } from '../../../contract/manifest';

/** `advice`: how to get a real model. docs/reference/models.md has the rules. */
export function demoProvider(advice: () => string): ModelProvider {
  const answer = (request: GenerateRequest): GenerateAnswer =>
    ruleAnswer(request, `(This is the demo model: a few rules, no AI. ${advice()}.)`);
  return { model: () => ({ generate: (request) => Promise.resolve(answer(request)), stream: (request) => wordByWord(answer(request)) }) };
}

/** Slow enough for readers to see an answer grow. */
const wordMs = 10;

async function* wordByWord(answer: GenerateAnswer): AsyncGenerator<ModelChunk> {
  for (const chunk of chunksOf(answer)) {
    if (chunk.type !== 'text') yield chunk;
    else
      for (const text of chunk.text.split(/(?<= )/)) {
        yield { ...chunk, text };
        await setTimeout(wordMs);
      }
  }
}

function ruleAnswer({ messages, tools }: GenerateRequest, notice: string): GenerateAnswer {
  const lastUser = messages.reduce((last, message, position) => (message.role === 'user' ? position : last), 0);
  const text = messages[lastUser] === undefined ? '' : textOf(messages[lastUser]);
  const turn = messages.slice(lastUser + 1);
  const called = new Set(turn.flatMap((message) => message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.name] : []))));
  const hasFailed = turn.some(({ parts }) => parts.some((part) => part.type === 'tool-result' && part.isError === true));
  const about = tools.filter((spec) => !called.has(spec.name) && isAbout(spec, text)).sort((a, b) => rank(a) - rank(b));
  // A missing order must not be paid.
  const tool = hasFailed ? undefined : about[0];
  const facts = factsOf(turn);
  const parts: readonly Part[] =
    tool === undefined
      ? [{ type: 'text', text: summary(turn, hasFailed, notice) }]
      : [{ type: 'tool-call', id: `demo-${messages.length}`, name: tool.name, input: argumentsFor(tool, text, facts) }];
  const usage = { inputTokens: words(messages.map(textOf).join(' ')), outputTokens: words(JSON.stringify(parts)) };
  return { parts, usage };
}

function isAbout(tool: ToolSpec, text: string): boolean {
  const spoken = new Set(text.toLowerCase().split(/[^\p{L}\p{N}]+/u));
  return nameWords(tool).some((word) => word.length > 3 && (spoken.has(word) || spoken.has(`${word}s`)));
}

function nameWords(tool: ToolSpec): readonly string[] {
  return tool.name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
}

function rank(tool: ToolSpec): number {
  return /^(look|find|get|search|read|list)/i.test(tool.name) ? 0 : 1;
}

function argumentsFor(tool: ToolSpec, text: string, facts: Readonly<Record<string, Json>>): Json {
  const schema = tool.inputSchema as { properties?: Record<string, { type?: string; enum?: Json[] }> };
  const number = /\d+(?:\.\d+)?/.exec(text)?.[0];
  const filled: Record<string, Json> = {};
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const known = facts[key] ?? (/amount|price|sum/i.test(key) ? (facts['total'] ?? facts['price']) : undefined);
    if (property.enum?.[0] !== undefined) filled[key] = property.enum[0];
    else if (property.type === 'number' || property.type === 'integer')
      filled[key] = typeof known === 'number' ? known : Number(number ?? 0);
    else if (property.type === 'boolean') filled[key] = true;
    else if (/id$|number$/i.test(key)) filled[key] = typeof known === 'string' ? known : (number ?? text);
    else if (property.type === 'string') filled[key] = typeof known === 'string' ? known : text;
  }
  return filled;
}

function factsOf(turn: readonly Message[]): Record<string, Json> {
  const facts: Record<string, Json> = {};
  for (const { parts } of turn) {
    for (const part of parts) {
      if (part.type !== 'tool-result' || typeof part.output !== 'object' || part.output === null || Array.isArray(part.output)) continue;
      Object.assign(facts, part.output);
    }
  }
  return facts;
}

function summary(turn: readonly Message[], hasFailed: boolean, notice: string): string {
  const results = turn.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? [`${part.name}: ${short(part.output)}`] : [])),
  );
  return results.length === 0
    ? `There is no tool for this: I call one if a word of its name is said. ${notice}`
    : `${hasFailed ? 'Stopped' : 'Done'}. ${results.join('; ').replace(/(?<![.!?…])$/, '.')} ${notice}`;
}

function short(output: Json): string {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function words(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
