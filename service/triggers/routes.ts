import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import { refuseLimited } from '../../client/connection/authority';
import { isRecord } from '../../contract/check';
import { HoldfastError, codeOf, errorTable, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
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

export function triggerRoutes(parts: AppParts): Hono {
  const { logger } = parts;
  const named = (name: string, tenant?: string): NamedTrigger => {
    const trigger = triggersOf(parts, tenant).find((one) => one.name === name);
    if (trigger === undefined) throw new HoldfastError('trigger-unknown', `There is no trigger "${name}".`);
    return trigger;
  };
  const ofCaller = (client: HoldfastClient, name: string): Deliveries => {
    refuseLimited(client.caller, 'see deliveries');
    return new Deliveries(parts, named(name, client.place.tenant), client);
  };
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
  return new Routes('Triggers')
    .add('POST /v1/triggers/:name', receive, async ({ name, client, context }) => {
      const trigger = named(name);
      const body = decodedText(await signedBytes(context, trigger));
      const payload = payloadOf(body);
      if (trigger.options.from === 'slack' && isRecord(payload) && payload['type'] === 'url_verification')
        return context.json({ challenge: payload['challenge'] });
      const headers = context.req.header();
      const id = deliveryIdOf(trigger.options, payload, headers);
      try {
        const delivery = { id, headers: withoutSecrets(headers), body };
        return context.json(await new Deliveries(parts, trigger, client).take(delivery), 202);
      } catch (error) {
        const code = codeOf(error);
        if (code === undefined || errorTable[code].status < 500) throw error;
        // Senders learn no address of a store or a server.
        logger.error(`A delivery of the trigger ${name} waits for its repeat or a replay: ${messageOf(error)}`, { delivery: id, code });
        throw new HoldfastError(code, 'The service cannot take the delivery now. Send the delivery again.');
      }
    })
    .add('GET /triggers', { may: 'runs:read', summary: 'Lists the triggers.', answers: ok('Triggers', 'All triggers.') }, ({ client }) => ({
      triggers: triggersOf(parts, client.place.tenant).map(({ name, options: { from } }) => ({
        name,
        from: typeof from === 'string' ? from : 'signature',
      })),
    }))
    .add('GET /triggers/:name/deliveries', list, ({ name, query: { limit = 50 }, client }) => ofCaller(client, name).log.listKept(limit))
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

function triggersOf({ triggers, ownTenant }: AppParts, ofTenant?: string): readonly NamedTrigger[] {
  const all = Object.entries(current(triggers) ?? {}).map(([name, options]) => ({ name, tenant: options.tenant ?? ownTenant(), options }));
  return ofTenant === undefined ? all : all.filter(({ tenant }) => tenant === ofTenant);
}

/** Nobody without a secret makes the service read a body whose signature is missing or late. */
async function signedBytes(context: Context, { options }: NamedTrigger): Promise<Buffer> {
  try {
    const check = signatureOf(options, context.req.header());
    const bytes = await readBytes(context, options.limit ?? limits.delivery);
    check(bytes);
    return bytes;
  } catch (error) {
    throw gateOf(context).refused(context, error);
  }
}

function withoutSecrets(headers: DeliveryHeaders): DeliveryHeaders {
  const isSecret = (name: string): boolean => /^(proxy-)?authorization$|^cookie$|signature|token|secret|(?<!idempotency-)key/.test(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isSecret(name)));
}
