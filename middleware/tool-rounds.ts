import type { Message, Part } from '../contract/messages/messages';

export type ResultPart = Extract<Part, { readonly type: 'tool-result' }>;
export type CallPart = Extract<Part, { readonly type: 'tool-call' }>;

export interface ToolRound {
  readonly at: number;
  readonly assistant: Message;
  readonly results: readonly Message[];
}

export const callPartsOf = ({ parts }: Message): readonly CallPart[] => parts.filter((part) => part.type === 'tool-call');
export const resultPartsOf = ({ parts }: Message): readonly ResultPart[] => parts.filter((part) => part.type === 'tool-result');

export function toolRounds(messages: readonly Message[]): readonly ToolRound[] {
  const rounds: ToolRound[] = [];
  messages.forEach((assistant, at) => {
    if (assistant.role !== 'assistant' || callPartsOf(assistant).length === 0) return;
    let end = at + 1;
    while (messages[end]?.role === 'tool') end += 1;
    rounds.push({ at, assistant, results: messages.slice(at + 1, end) });
  });
  return rounds;
}

/** Ids of providers repeat, but each result answers one call. */
export function resultsByCall({ assistant, results }: ToolRound): ReadonlyMap<CallPart, ResultPart | undefined> {
  const left = results.flatMap(resultPartsOf);
  return new Map(
    callPartsOf(assistant).map((call) => {
      const found = left.findIndex(({ callId }) => callId === call.id);
      return [call, found === -1 ? undefined : left.splice(found, 1)[0]];
    }),
  );
}
