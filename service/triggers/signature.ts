import { createHmac, timingSafeEqual } from 'node:crypto';
import { isRecord } from '../../contract/check';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import type { DeliveryHeaders, SignatureForm, TriggerOptions } from './options';

/** Signatures that a request has, and the text before the body that they also cover. */
interface SignatureClaim {
  readonly signatures: readonly string[];
  readonly covered: string;
  /** In seconds since 1970. Absent: the form has no time. */
  readonly time?: string;
}

interface SenderForm {
  /** The header that the refusal names. */
  readonly header: string;
  readonly encoding: 'hex' | 'base64';
  readonly keyOf: (secret: string) => Buffer;
  readonly claimOf: (headers: DeliveryHeaders) => SignatureClaim | undefined;
  readonly idOf: (payload: Json, headers: DeliveryHeaders) => unknown;
}

const asText = (secret: string): Buffer => Buffer.from(secret);
const fieldOf = (payload: Json, field: string): unknown => (isRecord(payload) ? payload[field] : undefined);

function ownForm(
  { signature, prefix = '', encoding = 'hex', id, timestamp }: SignatureForm,
  coveredWith = (time: string): string => `${time}.`,
): SenderForm {
  const [header, idHeader, timeHeader] = [signature, typeof id === 'string' ? id : '', timestamp].map((name) => name?.toLowerCase());
  return {
    header: signature,
    encoding,
    keyOf: asText,
    claimOf: (headers) => {
      const text = headers[header ?? ''];
      const time = timeHeader === undefined ? undefined : headers[timeHeader];
      if (text?.startsWith(prefix) !== true || (timeHeader !== undefined && time === undefined)) return undefined;
      const signatures = [text.slice(prefix.length)];
      return time === undefined ? { signatures, covered: '' } : { signatures, covered: coveredWith(time), time };
    },
    idOf: (payload, headers) => (typeof id === 'string' ? headers[idHeader ?? ''] : id(payload, headers)),
  };
}

const senderForms = {
  standard: {
    header: 'webhook-signature',
    encoding: 'base64',
    keyOf: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
    claimOf: ({ 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': text }) => {
      if (id === undefined || time === undefined || text === undefined) return undefined;
      const signatures = text.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice('v1,'.length)] : []));
      return { signatures, covered: `${id}.${time}.`, time };
    },
    idOf: (_, headers) => headers['webhook-id'],
  },
  github: ownForm({ signature: 'X-Hub-Signature-256', prefix: 'sha256=', id: 'X-GitHub-Delivery' }),
  stripe: {
    header: 'Stripe-Signature',
    encoding: 'hex',
    keyOf: asText,
    claimOf: ({ 'stripe-signature': text = '' }) => {
      const valuesOf = (name: string): readonly string[] =>
        text.split(',').flatMap((part) => (part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []));
      const [time, ...more] = valuesOf('t');
      return time === undefined || more.length > 0 ? undefined : { signatures: valuesOf('v1'), covered: `${time}.`, time };
    },
    idOf: (payload) => fieldOf(payload, 'id'),
  },
  slack: ownForm(
    {
      signature: 'X-Slack-Signature',
      prefix: 'v0=',
      timestamp: 'X-Slack-Request-Timestamp',
      id: (payload) => fieldOf(payload, 'event_id') as string | undefined,
    },
    (time) => `v0:${time}:`,
  ),
} as const satisfies Readonly<Record<string, SenderForm>>;

function formOf({ from }: Pick<TriggerOptions, 'from'>): SenderForm {
  return typeof from === 'string' ? senderForms[from] : ownForm(from);
}

const usualTolerance = '5m';

/**
 * Refuses an unsigned or late request before its body is read. The returned function refuses a body that the signature does not fit. All
 * refusals are `delivery-refused`.
 */
export function signatureOf(
  trigger: Pick<TriggerOptions, 'from' | 'secrets' | 'tolerance'>,
  headers: DeliveryHeaders,
  now: number = Date.now(),
): (body: Uint8Array) => void {
  const { header, encoding, keyOf, claimOf } = formOf(trigger);
  const claim = claimOf(headers);
  if (claim === undefined) throw refused(`The delivery is not signed: its header ${header} is missing or incomplete.`);
  checkTime(claim, trigger.tolerance, now);
  const offered = claim.signatures.flatMap((text) => digestOf(text, encoding) ?? []);
  return (body) => {
    let isSigned = false;
    for (const secret of [trigger.secrets].flat()) {
      // A missing secret would be a key that everybody knows.
      const key = keyOf(secret ?? '');
      const digest = createHmac('sha256', key).update(claim.covered).update(body).digest();
      for (const signature of offered) isSigned = (timingSafeEqual(digest, signature) && key.length > 0) || isSigned;
    }
    if (!isSigned) throw refused(`The header ${header} fits no secret of the trigger.`);
  };
}

function checkTime({ time }: SignatureClaim, tolerance: string = usualTolerance, now: number): void {
  if (time === undefined) return;
  const awayMs = /^\d{1,12}$/.test(time) ? Math.abs(now - Number(time) * 1000) : undefined;
  if (awayMs === undefined) throw refused('The time of the signature is no number of seconds since 1970.');
  if (awayMs > millisecondsOf(tolerance, 'config-invalid'))
    throw refused(
      `The delivery was signed ${Math.round(awayMs / 1000)} s away from the time of the service, and ${tolerance} is the most.`,
    );
}

function digestOf(text: string, encoding: 'hex' | 'base64'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  return bytes.length === 32 && bytes.toString(encoding) === (encoding === 'hex' ? text.toLowerCase() : text) ? bytes : undefined;
}

function refused(message: string): HoldfastError {
  return new HoldfastError('delivery-refused', message);
}

/** Throws 'request-invalid' without a usable id: repeats would not be recognized. */
export function deliveryIdOf(trigger: Pick<TriggerOptions, 'from'>, payload: Json, headers: DeliveryHeaders): string {
  const id = formOf(trigger).idOf(payload, headers);
  if (typeof id === 'string' && /^(?!\.{1,2}$)[!-~]{1,200}$/.test(id)) return id;
  throw new HoldfastError(
    'request-invalid',
    'The delivery has no id of 1 to 200 visible ASCII characters where its sender should put the id.',
  );
}
