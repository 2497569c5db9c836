import type { ModelChunk, GenerateRequest, LanguageModel, ModelProvider } from '../../activities/models/language-model';
import type { Delta } from '../../contract/deltas';

export type Said = string | Error | Promise<unknown> | { readonly tool: string; readonly input: object };

export interface AskedModel extends ModelProvider {
  readonly asked: readonly (GenerateRequest & { readonly model: string })[];
  readonly names: readonly string[];
}

export function sayingModel(...script: readonly (readonly Said[])[]): AskedModel {
  return modelsSaying(() => script);
}

export function modelsSaying(scriptOf: (name: string) => readonly (readonly Said[])[]): AskedModel {
  const asked: (GenerateRequest & { readonly model: string })[] = [];
  const counts = new Map<string, number>();
  const model = (name: string): LanguageModel => {
    const next = (request: GenerateRequest): AsyncGenerator<ModelChunk> => {
      asked.push({ ...request, model: name });
      const script = scriptOf(name);
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      const said = script[count];
      if (said === undefined) throw Object.assign(new Error(`${name} has nothing more to say.`), { isRetryable: false });
      return say(said);
    };
    return {
      stream: next,
      async generate(request) {
        let text = '';
        const parts: Extract<ModelChunk, { type: 'part' }>['part'][] = [];
        for await (const chunk of next(request)) {
          if (chunk.type === 'text') text += chunk.text;
          if (chunk.type === 'part') parts.push(chunk.part);
        }
        return { parts: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts] };
      },
    };
  };
  return {
    asked,
    get names() {
      return asked.map(({ model: name }) => name);
    },
    model,
  };
}

let calls = 0;

async function* say(said: readonly Said[]): AsyncGenerator<ModelChunk> {
  for (const piece of said) {
    if (typeof piece === 'string') yield { type: 'text', text: piece };
    else if (piece instanceof Error) throw piece;
    else if (piece instanceof Promise) await piece;
    else yield { type: 'part', part: { type: 'tool-call', id: `call-${++calls}`, name: piece.tool, input: piece.input as never } };
  }
  yield { type: 'finish' };
}

export function broken(message = 'The line is dead.', isRetryable = true): Error {
  return Object.assign(new Error(message), { isRetryable });
}

export function shortDelta(delta: Delta): string {
  if (delta.type === 'text-delta') return delta.text;
  return delta.type === 'attempt-start' ? 'start' : delta.type === 'attempt-void' ? 'void' : delta.type;
}
