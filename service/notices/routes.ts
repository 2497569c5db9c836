import type { Hono } from 'hono';
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import { refuseLimited } from '../../client/connection/authority';
import { HoldfastError, messageOf } from '../../contract/errors';
import { Routes, done, ok } from '../http/routes';
import { count } from '../http/schemas';
import type { AppParts } from '../parts';
import { NoticeOutbox } from './outbox';
import type { SenderSettings } from './sender';

const NoticesQuery = z.strictObject({ limit: count.pipe(z.number().min(1).max(1000)).optional() });
const usualLimit = 100;

export function noticeRoutes({ store, closing }: AppParts, send: SenderSettings['send']): Hono {
  const outboxOf = ({ caller, place }: HoldfastClient): NoticeOutbox => {
    refuseLimited(caller, 'see notices');
    return new NoticeOutbox(store, place.tenant);
  };
  const list = {
    may: 'runs:read',
    summary: 'Lists notices that no receiver has taken.',
    query: NoticesQuery,
    answers: ok('ListedNotices', 'Undelivered and pending notices.'),
  } as const;
  const again = { may: 'runs:control', summary: 'Sends an undelivered notice now.', answers: done } as const;
  const drop = { may: 'runs:control', summary: 'Drops an undelivered notice.', answers: done } as const;
  return new Routes('Notices')
    .add('GET /', list, ({ query: { limit = usualLimit }, client }) => outboxOf(client).list(limit))
    .add('POST /:notice/send', again, async ({ notice: id, client }) => {
      const outbox = outboxOf(client);
      const notice = await outbox.undelivered(id);
      await send(outbox.tenant, { ...notice, since: Date.now() }, closing).catch((error: unknown) => {
        throw new HoldfastError('notice-failed', `${notice.to} does not take the notice: ${messageOf(error)}`);
      });
      await outbox.drop(id);
      return { id };
    })
    .add('DELETE /:notice', drop, async ({ notice: id, client }) => {
      const outbox = outboxOf(client);
      await outbox.undelivered(id);
      await outbox.drop(id);
      return { id };
    }).app;
}
