import type { Hono } from 'hono';
import type { Author } from '../../contract/access';
import type { HoldfastClient } from '../../client/connect';
import { createLogger } from '../../host/logger';
import type { ServiceParts } from '../../service/parts';
import { createApp } from '../../service/http/app';
import type { ToldOperation } from '../../service/http/routes';
import { operationsOf } from '../../service/http/routes';

/** A client with these members alone. */
export function clientWith(members: object): HoldfastClient {
  const client = { author: (claimed: Author) => claimed, permit: () => Promise.resolve(), as: (): unknown => client };
  return Object.assign(client, members, { withDeadline: (_: number, ask: () => unknown) => ask() }) as unknown as HoldfastClient;
}

/** The service on a client with these members alone. */
export function appOn(members: object, parts: Partial<ServiceParts> = {}): Hono {
  return createApp({ client: clientWith(members), agents: [], logger: createLogger({ level: 'silent' }), ...parts });
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

export async function answerOf(app: Hono, method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }> {
  const sent = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await app.request(path, { method, ...sent });
  return { status: response.status, body: await response.json() };
}

export const serviceApp = appOn({}, { access: { identify: () => ({ tenant: 'default', user: 'ada', roles: ['admin'] }) } });

export const operations = operationsOf(serviceApp) as Readonly<Record<string, ToldOperation>>;

/** What a service without `access` has. */
export const operationsWithoutAccess = operationsOf(appOn({})) as Readonly<Record<string, ToldOperation>>;
