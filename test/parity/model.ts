import type { ModelChunk, GenerateAnswer, GenerateRequest, LanguageModel, ModelProvider } from '../../activities/models/language-model';
import type { Json, Part, Usage } from '../../contract/messages/messages';
import { told } from './plays';
import type { Said } from './script';

const usage: Usage = { inputTokens: 3, outputTokens: 2 };

export const models: ModelProvider = {
  model: (given): LanguageModel => modelNamed(given.replace(/^test\//, '')),
};

function modelNamed(name: string): LanguageModel {
  return {
    generate: async (request) => (name === 'side' ? beside(request) : whole(spoken(await next(name, request)))),
    async *stream(request) {
      yield* name === 'side' ? pieces({ says: textOf(await beside(request)) }) : pieces(await next(name, request));
    },
  };
}

async function next(model: string, { signal: _, ...request }: GenerateRequest): Promise<Said> {
  return (await told({ is: 'asked', request: { ...request, model } })) ?? { says: '' };
}

async function beside({ signal: _, tools: __, ...request }: GenerateRequest): Promise<GenerateAnswer> {
  await told({ is: 'asked beside', request: JSON.parse(JSON.stringify(request)) as Json });
  return { parts: [{ type: 'text', text: `Aside of ${request.messages.length}.` }], usage };
}

const textOf = ({ parts }: GenerateAnswer): string => (parts[0]?.type === 'text' ? parts[0].text : '');

function spoken(said: Said): Exclude<Said, { fails: unknown }> {
  if ('fails' in said) throw failure(said);
  return said;
}

function failure({ fails, error }: Extract<Said, { fails: unknown }>): Error {
  return Object.assign(new Error(error), { isRetryable: fails === 'in passing' });
}

function whole(said: Exclude<Said, { fails: unknown }>): GenerateAnswer {
  return { parts: partsOf(said), usage };
}

function partsOf(said: Exclude<Said, { fails: unknown }>): readonly Part[] {
  const text: readonly Part[] = said.says === undefined || said.says === '' ? [] : [{ type: 'text', text: said.says }];
  return [...text, ...('calls' in said ? said.calls.map((call): Part => ({ type: 'tool-call', ...call })) : [])];
}

async function* pieces(said: Said): AsyncGenerator<ModelChunk> {
  if ('fails' in said) {
    if (said.saying !== undefined) yield { type: 'text', text: said.saying };
    throw failure(said);
  }
  for (const part of partsOf(said)) {
    if (part.type !== 'text') yield { type: 'part', part: part as Extract<ModelChunk, { type: 'part' }>['part'] };
    else for (const word of part.text.split(/(?<= )/)) yield { type: 'text', text: word };
  }
  yield { type: 'finish', usage };
}
