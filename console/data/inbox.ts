import { defined } from '../../contract/defined';
import { answerer } from './identity';
import { usePoll } from './live';
import { service } from './service';

const most = 1_000;

export function useInbox(isForAll = false) {
  const { by, roles } = answerer.value;
  const query = by === undefined || isForAll ? {} : defined({ mayAnswer: by, role: roles });
  return usePoll(`interrupts ${JSON.stringify(query)}`, async () => {
    const { interrupts, more } = await service.interrupts({ ...query, limit: most });
    return { interrupts, more };
  });
}
