import { z } from 'zod';
import type { StartRequest } from '../../client/http/requests';
import { duration } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { isTenant, nameProblem, tenantForm } from '../../contract/names';
import { isSigningSecret, signingSecretForm } from '../../host/check-settings';
import { formed } from '../formed';

export type DeliveryHeaders = Readonly<Record<string, string>>;

/** A form of signature: HMAC-SHA256 over the bytes of the body, or over `TIMESTAMP.BODY`. */
export interface SignatureForm {
  /** The header with the signature. */
  readonly signature: string;
  /** Text before the signature in the header, such as `sha256=`. */
  readonly prefix?: string;
  /** Default: hex. */
  readonly encoding?: 'hex' | 'base64';
  /** The header with the id of the delivery, or a function. Repeats must have the same id. */
  readonly id: string | ((payload: Json, headers: DeliveryHeaders) => string | undefined);
  /** The header with the time of the signature, in seconds since 1970. */
  readonly timestamp?: string;
}

export interface TriggerDelivery {
  readonly payload: Json;
  readonly id: string;
  /** With names in lower case, without credentials. */
  readonly headers: DeliveryHeaders;
  readonly trigger: string;
}

/** The run that a delivery starts. Default of `id`: made of the trigger and the id of the delivery. */
export type TriggerStart = Pick<StartRequest, 'agent' | 'input' | 'id' | 'tags' | 'values' | 'model' | 'deadline'>;

export interface TriggerOptions {
  /** Who sends. */
  readonly from: 'standard' | 'github' | 'stripe' | 'slack' | SignatureForm;
  /** One secret, or two while the sender changes to another. */
  readonly secrets: string | undefined | readonly (string | undefined)[];
  /** How far the time of a signature may be from the service's clock. Default: 5m. */
  readonly tolerance?: string;
  /** The tenant of the runs. Default: the tenant of the service. */
  readonly tenant?: string;
  /** Makes a run of a delivery. Undefined ignores the delivery. Must depend on the delivery alone. */
  readonly start: (delivery: TriggerDelivery) => TriggerStart | undefined;
  /** The most bytes of a body. Default: 1 MiB. */
  readonly limit?: number;
}

export type Triggers = Readonly<Record<string, TriggerOptions>>;

const senders = ['standard', 'github', 'stripe', 'slack'] as const;
const mostBytes = 25 * 1024 * 1024;
const header = z.string().regex(/^[\w-]+$/, 'is no name of a header');
const func = z.custom<(given: never) => never>((value) => typeof value === 'function', 'is no function');

const from = z.union(
  [
    z.enum(senders),
    z.strictObject({
      signature: header,
      prefix: z.string().min(1).optional(),
      encoding: z.enum(['hex', 'base64']).optional(),
      id: z.union([header, func]),
      timestamp: header.optional(),
    }),
  ],
  `is none of ${senders.join(', ')}, and no form such as { signature: 'X-Signature', id: 'X-Delivery' }`,
);

const trigger = z
  .strictObject({
    from,
    secrets: z.unknown(),
    tolerance: formed<string>(duration, 'tolerance').optional(),
    tenant: z.string().refine(isTenant, `is no name of a tenant: use ${tenantForm}`).optional(),
    start: func,
    limit: z.int().min(1).max(mostBytes).optional(),
  })
  .superRefine(({ from: sender, secrets, tolerance }, context) => {
    const refuse = (field: string, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
    const problem = problemOfSecrets([secrets].flat(), sender === 'standard');
    if (problem !== undefined) refuse('secrets', problem);
    const isTimed = typeof sender === 'string' ? sender !== 'github' : sender.timestamp !== undefined;
    if (tolerance !== undefined && !isTimed) refuse('tolerance', 'has no effect, because these deliveries have no time. Remove the option');
  });

function problemOfSecrets(secrets: readonly unknown[], isStandard: boolean): string | undefined {
  if (secrets.length !== 1 && secrets.length !== 2) return `are ${secrets.length}. Give one, or two while the sender changes to another`;
  if (secrets.some((secret) => typeof secret !== 'string' || secret === ''))
    return 'lack a value. Set the environment variable from which the secret comes';
  if (new Set(secrets).size < secrets.length) return 'have one secret twice';
  if (isStandard && !secrets.every((secret) => isSigningSecret(String(secret)))) return `have a secret that is not ${signingSecretForm}`;
  return undefined;
}

export const TriggersSchema = z.record(z.string(), trigger).superRefine((triggers, context) => {
  for (const name of Object.keys(triggers)) {
    const message = nameProblem(name) ?? (name.startsWith('_') ? 'a name of a trigger starts with a letter' : undefined);
    if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message: `is refused: ${message}` });
  }
}) as unknown as z.ZodType<Triggers>;
