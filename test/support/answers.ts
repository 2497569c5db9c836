import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import type { Json } from '../../contract/messages/messages';

export type Answerer = (request: GenerateRequest) => GenerateAnswer | Promise<GenerateAnswer>;

export function text(value: string): GenerateAnswer {
  return { parts: [{ type: 'text', text: value }], usage: { inputTokens: 10, outputTokens: 5 } };
}

export function calls(...toolCalls: readonly { id?: string; name: string; input: Json }[]): GenerateAnswer {
  return {
    parts: toolCalls.map(({ id, name, input }, position) => ({ type: 'tool-call', id: id ?? `call-${position}`, name, input })),
    usage: { inputTokens: 10, outputTokens: 5 },
  };
}

/** The n-th answer for a transcript with n assistant messages. Stateless, so that many runs share the script. */
export function script(...answers: readonly GenerateAnswer[]): Answerer {
  return ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    return answers[turn] ?? text(`no answer ${turn} in the script`);
  };
}
