import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import { isRole } from '../../contract/access';
import { defined } from '../../contract/defined';
import { millisecondsOf } from '../../contract/duration';
import { codeOf, HoldfastError, messageOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { limits, utf8Length } from '../../contract/limits';
import { isPersonName } from '../../contract/people';
import { askedAt } from '../../contract/who-may-answer';
import type { Logger } from '../../host/logger';
import type { AccessParts } from '../access/access';
import { shownHash } from '../access/links';
import { hashOf } from '../access/secrets';
import { refused } from '../outgoing/addresses';
import type { ServiceStore } from '../store/store';
import { sendSigned } from '../outgoing/send-signed';
import type { NotifiedPerson, NotifyOptions } from './options';
import { isFor, targetsOf } from './options';
import type { Notice } from './outbox';
import type { SenderSettings } from './sender';

export interface NoticeParts {
  readonly client: HoldfastClient;
  readonly store: ServiceStore;
  readonly logger: Pick<Logger, 'warn'>;
  /** The address of the service for people. Undefined: unknown, and notices have no addresses. */
  readonly url: () => string | undefined;
  /** Absent: names are claims, and notices have no links. */
  readonly access?: Pick<AccessParts, 'links' | 'audit'>;
}

export function noticeSender(parts: NoticeParts, receivers: readonly NotifyOptions[]): SenderSettings['send'] {
  return async (tenant, notice, signal) => {
    const receiver = receivers.find((one) => one.to === notice.to && isFor(one, tenant, notice.type, notice.run));
    if (receiver === undefined) throw refused(`\`notify\` of the configuration no longer tells ${notice.to} about this.`);
    const body = await bodyOf(parts, tenant, notice, receiver);
    const headers = { 'content-type': 'application/json' };
    await sendSigned(notice.to, { id: notice.id, body }, { to: targetsOf(receiver), secret: receiver.secret, headers, signal });
  };
}

/** The JSON text of a notice, with what waits at the moment. */
async function bodyOf(parts: NoticeParts, tenant: string, notice: Notice, receiver: NotifyOptions): Promise<string> {
  const { run: about, type, event, error } = notice;
  const id = interruptOf(event);
  const client = parts.client.forTenant(tenant);
  const interrupt = id === undefined ? undefined : (await client.run(about.run).interrupts()).find((one) => one.id === id);
  const url = parts.url();
  const head = { tenant, ...about, ...defined({ url: url === undefined ? undefined : `${url}/#/runs/${encodeURIComponent(about.run)}` }) };
  const links = interrupt === undefined || url === undefined ? [] : await linksTo(parts, { tenant, notice, interrupt, receiver, url });
  const asked = id === undefined ? {} : { interruptId: id, isOpen: interrupt !== undefined, links };
  const whole = { ...head, ...asked, ...defined({ interrupt, error }), ...endOf(event) };
  const textOf = (data: object): string => JSON.stringify({ type: `run.${type}`, timestamp: new Date(notice.at).toISOString(), data });
  const text = textOf(whole);
  return utf8Length(text) <= limits.pushBody ? text : textOf({ ...head, ...asked, isShort: true });
}

function interruptOf(event: RunEvent | undefined): string | undefined {
  if (event === undefined) return undefined;
  if (event.type === 'interrupt-start') return event.interrupt.id;
  return event.type === 'interrupt-remind' || event.type === 'interrupt-escalate' ? event.interruptId : undefined;
}

function endOf(event: RunEvent | undefined): object {
  if (event?.type !== 'run-end') return {};
  const { output, text, error } = event;
  return defined({ output, text, error });
}

const People = z
  .array(z.strictObject({ user: z.string().refine(isPersonName), roles: z.array(z.string().refine(isRole)).max(20).optional() }))
  .max(50);

interface LinksAsked {
  readonly tenant: string;
  readonly notice: Notice;
  readonly interrupt: Interrupt;
  readonly receiver: NotifyOptions;
  readonly url: string;
}

interface NoticeLink {
  readonly for: string;
  readonly url: string;
  readonly expires: string;
}

/** Attempts have the same links until half of their time is over, and the audit log has each link once. */
async function linksTo({ access, store, logger }: NoticeParts, asked: LinksAsked): Promise<readonly NoticeLink[]> {
  if (access === undefined) return [];
  const { links, audit } = access;
  const { tenant, notice, interrupt, url } = asked;
  const { run } = notice.run;
  const halfMs = millisecondsOf(links.expires, 'config-invalid') / 2;
  const expires = notice.since + (Math.floor((Date.now() - notice.since) / halfMs) + 2) * halfMs;
  const made: NoticeLink[] = [];
  for (const { user, roles = [] } of await peopleFor(asked)) {
    const id = hashOf(JSON.stringify([notice.id, user, roles, expires])).slice(0, 24);
    const link = { tenant, run, interrupt: interrupt.id, hash: shownHash(interrupt), user, roles, expires };
    const token = await links.make(link, id).catch((error: unknown) => {
      if (codeOf(error) !== 'request-invalid') throw error;
      logger.warn(`A notice about the run ${run} has no link for ${user}: ${messageOf(error)}`, { run });
    });
    if (token === undefined) continue;
    const isNew = await store.set(`link-made/${id}`, '', { ifAbsent: true, ttlMs: Math.max(1, expires - Date.now()) });
    if (isNew) void audit.write({ what: 'link-made', tenant, run, interrupt: interrupt.id, for: user, roles });
    made.push({ for: user, url: `${url}/decide/${token}`, expires: new Date(expires).toISOString() });
  }
  return made;
}

async function peopleFor({ tenant, notice, interrupt, receiver }: LinksAsked): Promise<readonly NotifiedPerson[]> {
  const { people } = receiver;
  const { run, at, event } = notice;
  const asked = askedAt(interrupt, Math.max(Date.now(), at, event?.type === 'interrupt-escalate' ? event.at : 0));
  if (people === undefined) return (asked.by ?? []).map((user) => ({ user }));
  const tool = interrupt.kind === 'approval' ? interrupt.tool : undefined;
  const found = People.safeParse(await people({ tenant, run: run.run, agent: run.agent, tags: run.tags, ...asked, ...defined({ tool }) }));
  if (found.success) return found.data;
  throw new HoldfastError(
    'config-invalid',
    'The function `people` of a receiver in `notify` must give a list of at most 50 { user, roles }.',
  );
}
