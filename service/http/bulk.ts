import type { Failure } from '../../contract/messages/messages';
import type { HoldfastClient } from '../../client/index';
import type { AppParts } from '../parts';
import { toldError } from './error-response';

/** More requests at a time would only wait for each other at the server. */
const atOnce = 10;

export async function eachOf<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  { client, logger, patienceMs }: Pick<AppParts, 'logger' | 'patienceMs'> & { readonly client: HoldfastClient },
): Promise<readonly (Failure | undefined)[]> {
  const outcomes: (Failure | undefined)[] = new Array<Failure | undefined>(items.length).fill(undefined);
  const places = items.keys();
  const work = async (): Promise<void> => {
    for (const place of places) {
      try {
        await client.withDeadline(Date.now() + patienceMs, async () => act(items[place] as Item));
      } catch (error) {
        const { code, message } = toldError(error, 'one of many requests', logger);
        outcomes[place] = { code, message };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return outcomes;
}
