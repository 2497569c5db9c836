import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import { isRecord } from '../../contract/check';
import { HoldfastError, codeOf, errorTable, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import { gateOf } from '../access/gate';
import { current } from '../http/current';
import { decodedText, readBytes } from '../http/parse-request';
import { Routes, done, ok } from '../http/routes';
import { count, json } from '../http/schemas';
import type { AppParts } from '../parts';
import type { NamedTrigger } from './deliveries';
import { Deliveries, payloadOf } from './deliveries';
import type { DeliveryHeaders } from './options';
import { deliveryIdOf, signatureOf } from './signature';

const KeptQuery = z.strictObject({ limit: count.pipe(z.number().min(1).max(1000)).optional() });
const usualLimit = 50;

export function triggerRoutes(parts: AppParts): Hono {
  const { logger } = parts;
  const receive = {
    may: 'anybody',
    summary: 'Takes a signed delivery of a webhook. The same id is the same delivery.',
    ownBody: json,
    answers: {
      ...ok('Protocol', 'The challenge of Slack.'),
      202: { says: 'The run of the delivery, or the delivery is ignored or kept.', name: 'DeliveryOutcome' },
    },
  } as const;
  const list = {
    may: 'runs:read',
    summary: 'Lists deliveries that started no run, newest first.',
    query: KeptQuery,
    answers: ok('KeptDeliveries', 'Kept deliveries.'),
  } as const;
  const replay = {
    may: 'runs:start',
    summary: 'Makes a run of a kept delivery, with the configuration of today.',
    answers: ok('DeliveryOutcome', 'What became of the delivery.'),
  } as const;
  const ofCaller = (client: HoldfastClient, name: string): Deliveries => {
    refuseLimited(client);
    const trigger = triggersOf(parts).find((one) => one.name === name && one.tenant === client.place.tenant);
    if (trigger === undefined) throw unknownTrigger(name);
    return new Deliveries(parts, trigger, client);
  };
  return new Routes('Triggers')
    .add('POST /v1/triggers/:name', receive, async ({ name, client, context }) => {
      const trigger = triggersOf(parts).find((one) => one.name === name);
      if (trigger === undefined) throw unknownTrigger(name);
      const headers = headersOf(context);
      const { body, payload } = await signedBody(context, trigger, headers);
      if (trigger.options.from === 'slack' && isRecord(payload) && payload['type'] === 'url_verification')
        return context.json({ challenge: payload['challenge'] });
      const id = deliveryIdOf(trigger.options, payload, headers);
      try {
        return context.json(await new Deliveries(parts, trigger, client).take({ id, headers, body }), 202);
      } catch (error) {
        const code = codeOf(error);
        if (code === undefined || errorTable[code].status < 500) throw error;
        // Senders learn no address of a store or a server.
        logger.error(`A delivery of the trigger ${name} waits for its repeat: ${messageOf(error)}`, { delivery: id, code });
        throw new HoldfastError(code, 'The service cannot take the delivery now. Send the delivery again.');
      }
    })
    .add('GET /triggers', { may: 'runs:read', summary: 'Lists the triggers.', answers: ok('Triggers', 'All triggers.') }, ({ client }) => ({
      triggers: triggersOf(parts)
        .filter(({ tenant }) => tenant === client.place.tenant)
        .map(({ name, options: { from } }) => ({ name, from: typeof from === 'string' ? from : 'signature' })),
    }))
    .add('GET /triggers/:name/deliveries', list, ({ name, query: { limit = usualLimit }, client }) =>
      ofCaller(client, name).listKept(limit),
    )
    .add('POST /triggers/:name/deliveries/:delivery/replay', replay, ({ name, delivery, client }) =>
      ofCaller(client, name).replay(delivery),
    )
    .add(
      'DELETE /triggers/:name/deliveries/:delivery',
      { may: 'runs:start', summary: 'Drops a kept delivery. A repeat of the delivery is ignored.', answers: done },
      async ({ name, delivery, client }) => {
        await ofCaller(client, name).drop(delivery);
        return { id: delivery };
      },
    ).app;
}

function triggersOf({ triggers, ownTenant }: AppParts): readonly NamedTrigger[] {
  return Object.entries(current(triggers) ?? {}).map(([name, options]) => ({
    name,
    tenant: options.tenant ?? ownTenant(),
    options,
  }));
}

/** Nobody without a secret makes the service read a body whose signature is missing or late. */
async function signedBody(
  context: Context,
  { options }: NamedTrigger,
  headers: DeliveryHeaders,
): Promise<{ readonly body: string; readonly payload: Json }> {
  let bytes: Buffer;
  try {
    const check = signatureOf(options, headers);
    bytes = await readBytes(context, options.limit ?? limits.delivery);
    check(bytes);
  } catch (error) {
    throw gateOf(context).refused(context, error);
  }
  const body = decodedText(bytes);
  return { body, payload: payloadOf(body) };
}

const credentials = ['authorization', 'proxy-authorization', 'cookie'];

function headersOf(context: Context): DeliveryHeaders {
  return Object.fromEntries(Object.entries(context.req.header()).filter(([name]) => !credentials.includes(name)));
}

/** Deliveries belong to no single run, so `may` of `identify` cannot decide about them. */
function refuseLimited({ caller }: HoldfastClient): void {
  if (caller?.mayWith === undefined) return;
  throw new HoldfastError('action-forbidden', `${caller.user} may not see deliveries: \`identify\` limits ${caller.user} to some runs.`);
}

function unknownTrigger(name: string): HoldfastError {
  return new HoldfastError('trigger-unknown', `There is no trigger "${name}".`);
}
