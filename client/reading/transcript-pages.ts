import type { ConversationMessage, TranscriptPage } from '../../contract/service';
import { isConversation } from '../../contract/record/agent-paths';
import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import { messagesOfInput } from '../../contract/messages/messages';

/** Reads only the pieces that the page needs. */
export async function transcriptPage(
  pieces: AsyncIterable<readonly RunEvent[]>,
  { before, limit }: { readonly before?: number; readonly limit: number },
): Promise<TranscriptPage> {
  let found: ConversationMessage[] = [];
  for await (const piece of pieces) {
    const here = messagesIn(piece).filter(({ offset }) => before === undefined || offset < before);
    found = [...here, ...found];
    if (found.length > limit) break;
  }
  const messages = found.slice(-limit);
  const [first] = messages;
  return { messages, ...(found.length > messages.length && first !== undefined ? { before: first.offset } : {}) };
}

function messagesIn(piece: readonly RunEvent[]): readonly ConversationMessage[] {
  const begins = piece.find(({ type }) => type === 'turn-start' || type === 'turn-end');
  // Messages before the first `turn-start` belong to the previous turn.
  let turn = begins === undefined ? 0 : begins.type === 'turn-start' ? begins.turn - 1 : (begins as { turn: number }).turn;
  return piece.flatMap((event): readonly ConversationMessage[] => {
    if (event.type === 'turn-start') turn = event.turn;
    const { offset, time } = event;
    if (event.type === 'run-start') return (messagesOfInput(event.input) ?? []).map((message) => ({ message, turn: 0, offset, time }));
    if (!('message' in event) || !('runPath' in event) || !isConversation(event.runPath)) return [];
    if (event.type === 'message') return [{ message: event.message, turn: event.turn, offset, time, ...defined({ by: event.by }) }];
    const isPartial = event.type === 'model-end' && event.finish === 'cancelled';
    return [{ message: event.message, turn, offset, time, agent: event.agent, ...(isPartial ? { partial: true as const } : {}) }];
  });
}
