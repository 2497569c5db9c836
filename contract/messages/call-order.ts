import type { StoredMessage } from './messages';
import { toolCallsOf } from './messages';

/** Sorts results by their calls, and moves only results of the message before. */
export function inCallOrder(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  const ordered = [...messages];
  let calls: readonly string[] = [];
  let places: number[] = [];
  const take = (): void => {
    const results = places.map((place) => messages[place] as StoredMessage);
    results.sort((one, other) => placeOf(one, calls) - placeOf(other, calls));
    places.forEach((place, nth) => (ordered[place] = results[nth] as StoredMessage));
    places = [];
  };
  messages.forEach((message, place) => {
    if (message.role === 'tool') {
      if (placeOf(message, calls) < calls.length) places.push(place);
      return;
    }
    take();
    calls = toolCallsOf(message).map(({ id }) => id);
  });
  take();
  return ordered;
}

function placeOf({ parts }: StoredMessage, calls: readonly string[]): number {
  const [result] = parts;
  const place = result?.type === 'tool-result' ? calls.indexOf(result.callId) : -1;
  return place === -1 ? calls.length : place;
}
