import { defined } from '../../contract/defined';
import { usePoll } from './live';
import { service } from './service';

export const useSchedules = () => usePoll('schedules', () => service.schedules(), 5_000);

export const useNotices = () => usePoll('notices', () => service.notices(), 5_000);

export const useTriggers = () =>
  usePoll(
    'triggers',
    async () => Promise.all((await service.triggers()).map(async (one) => ({ ...one, ...(await service.deliveries(one.name)) }))),
    5_000,
  );

export const useBatches = (after: string | undefined) =>
  usePoll(
    `batches ${after ?? ''}`,
    async () => {
      const { batches, next } = await service.batches(defined({ limit: 20, after }));
      return { batches: await Promise.all(batches.map(({ id }) => service.batch(id))), next };
    },
    3_000,
  );
