import { defined } from '../../contract/defined';
import type { InterruptQuery, ListedInterrupt } from '../../http/index';
import type { Polled } from './live';
import { usePoll } from './live';
import { identity } from './identity';
import { service } from './service';

/** More than a person reads. The page says when there are more. */
const most = 1_000;

export interface InboxNow {
  readonly interrupts: readonly ListedInterrupt[];
  readonly more: boolean;
}

/** Everything that waits for whoever sits here, or for anybody at all. The header and the inbox share the poll. */
export function useInbox(isForAll = false): Polled<InboxNow> {
  const { name, roles } = identity.value;
  const mine = name === '' || isForAll ? {} : defined({ mayAnswer: name, role: roles.length === 0 ? undefined : roles });
  return useInterrupts(mine);
}

function useInterrupts(query: InterruptQuery): Polled<InboxNow> {
  return usePoll(`interrupts ${JSON.stringify(query)}`, async () => {
    const { interrupts, more } = await service.interrupts({ ...query, limit: most });
    return { interrupts, more };
  });
}
