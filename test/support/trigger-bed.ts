import type { Hono } from 'hono';
import { Webhook } from 'standardwebhooks';
import type { KnownCaller } from '../../client/connection/authority';
import type { HoldfastClient } from '../../client/index';
import { HoldfastError } from '../../contract/errors';
import type { ServiceStore } from '../../service/store/store';
import type { ServiceParts } from '../../service/parts';
import type { Triggers } from '../../service/triggers/options';
import { memoryStore } from './memory-store';
import { appOn } from './service-app';

export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export interface DeliveryFacts {
  readonly id?: string;
  /** In milliseconds since 1970. */
  readonly at?: number;
  readonly key?: string;
}

export function signedAs(body: string, { id = 'msg_1', at = Date.now(), key = secret }: DeliveryFacts = {}): Record<string, string> {
  const time = new Date(at);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(key).sign(id, time, body),
  };
}

export interface StartedRuns {
  readonly client: Partial<HoldfastClient>;
  /** The input of each run, by id. */
  readonly runs: Map<string, unknown>;
  readonly callers: KnownCaller[];
}

/** A client that starts runs as a Temporal server does: one for each id. */
export function startedRuns(): StartedRuns {
  const runs = new Map<string, unknown>();
  const callers: KnownCaller[] = [];
  const client = {
    place: { tenant: 'default' },
    as: (caller: KnownCaller) => {
      callers.push(caller);
      return Object.assign(Object.create(client) as object, { caller, place: { tenant: caller.tenant } });
    },
    start: async (_agent: string, input: unknown, { id = '' }: { readonly id?: string } = {}) => {
      if (runs.has(id) && JSON.stringify(runs.get(id)) !== JSON.stringify(input))
        throw new HoldfastError('run-id-in-use', `The id "${id}" belongs to a run with another agent or input.`);
      runs.set(id, input);
      return { id };
    },
  };
  return { client: client as unknown as Partial<HoldfastClient>, runs, callers };
}

const agents = [
  { name: 'support', description: 'Helps.', takesJob: false },
  { name: 'clerk', description: 'Files.', takesJob: true, inputSchema: { type: 'object', required: ['order'] } },
];

export function triggerApp(
  { client }: Pick<StartedRuns, 'client'>,
  triggers: Triggers,
  store: ServiceStore = memoryStore(),
  parts: Partial<ServiceParts> = {},
): Hono {
  return appOn(client, { agents, triggers, store, ...parts });
}

export interface Answered {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

export async function post(app: Hono, name: string, body: string | Uint8Array, headers: Record<string, string>): Promise<Answered> {
  const response = await app.request(`/v1/triggers/${name}`, { method: 'POST', headers, body: body as string });
  return { status: response.status, body: await response.json() };
}

/** A delivery of Standard Webhooks. */
export function deliver(app: Hono, name: string, payload: unknown, facts: DeliveryFacts = {}): Promise<Answered> {
  const body = JSON.stringify(payload);
  return post(app, name, body, signedAs(body, facts));
}
