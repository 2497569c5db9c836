import { withCode } from '../../client/lost-server';
import { withoutCredentials } from '../../contract/credentials';
import { codeOf, messageOf } from '../../contract/errors';
import type { Failure } from '../../contract/messages/messages';
import type { Logger } from '../../host/logger';
import type { ServiceParts } from './app';

/** So many at a time: more would only wait for each other at the server. */
const atOnce = 10;

/** Does it for each, each with its own patience, and says of each what became of it. What fails for one changes nothing for the others. */
export async function eachOf<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  { client, logger, patienceMs = 30_000 }: Pick<ServiceParts, 'client' | 'logger' | 'patienceMs'>,
): Promise<readonly (Failure | undefined)[]> {
  const outcomes: (Failure | undefined)[] = new Array<Failure | undefined>(items.length).fill(undefined);
  const places = items.keys();
  const work = async (): Promise<void> => {
    for (const place of places) {
      try {
        await client.withDeadline(Date.now() + patienceMs, async () => act(items[place] as Item));
      } catch (error) {
        outcomes[place] = failureOf(error, logger);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return outcomes;
}

function failureOf(error: unknown, logger: Logger): Failure {
  const coded = withCode(error);
  const code = codeOf(coded);
  if (code !== undefined && code !== 'internal') return { code, message: withoutCredentials(messageOf(coded)) };
  logger.error('One of many requests failed', { error });
  return { code: 'internal', message: 'The service failed. Its log says why.' };
}
