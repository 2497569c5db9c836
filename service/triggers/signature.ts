import { createHmac } from 'node:crypto';
import { isRecord } from '../../contract/check';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { isSame } from '../access/secrets';
import type { DeliveryHeaders, SignatureForm, TriggerOptions } from './options';

interface SenderForm extends SignatureForm {
  /** Between several signatures in the header. */
  readonly separator?: string;
  /** Text before the time, which is between the signatures. */
  readonly timePrefix?: string;
  readonly keyOf?: (secret: string) => Buffer;
  /** The text before the body that the signature also covers. Default: `TIMESTAMP.` */
  readonly covered?: (time: string, headers: DeliveryHeaders) => string;
}

const fieldOf = (payload: Json, field: string): string | undefined => (isRecord(payload) ? (payload[field] as string) : undefined);

const senderForms: Readonly<Record<Exclude<TriggerOptions['from'], SignatureForm>, SenderForm>> = {
  standard: {
    signature: 'webhook-signature',
    separator: ' ',
    prefix: 'v1,',
    encoding: 'base64',
    id: 'webhook-id',
    timestamp: 'webhook-timestamp',
    keyOf: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
    covered: (time, { 'webhook-id': id }) => `${id}.${time}.`,
  },
  github: { signature: 'X-Hub-Signature-256', prefix: 'sha256=', id: 'X-GitHub-Delivery' },
  stripe: { signature: 'Stripe-Signature', separator: ',', prefix: 'v1=', timePrefix: 't=', id: (payload) => fieldOf(payload, 'id') },
  slack: {
    signature: 'X-Slack-Signature',
    prefix: 'v0=',
    id: (payload) => fieldOf(payload, 'event_id'),
    timestamp: 'X-Slack-Request-Timestamp',
    covered: (time) => `v0:${time}:`,
  },
};

const formOf = ({ from }: Pick<TriggerOptions, 'from'>): SenderForm => (typeof from === 'string' ? senderForms[from] : from);
const headerIn = (headers: DeliveryHeaders, name: string): string | undefined => headers[name.toLowerCase()];

/** Refuses an unsigned or late request before its body is read. The returned function checks the body. */
export function signatureOf(
  trigger: Pick<TriggerOptions, 'from' | 'secrets' | 'tolerance'>,
  headers: DeliveryHeaders,
  now: number = Date.now(),
): (body: Uint8Array) => void {
  const form = formOf(trigger);
  const { signature, encoding = 'hex', keyOf = Buffer.from, covered = (time) => `${time}.` } = form;
  const claim = claimIn(form, headers);
  if (claim === undefined) throw refused(`The delivery is not signed: its header ${signature} is missing or incomplete.`);
  const { signatures, time } = claim;
  if (time !== undefined) checkTime(time, trigger.tolerance, now);
  const before = time === undefined ? '' : covered(time, headers);
  return (body) => {
    const isSignedWith = (secret = ''): boolean => {
      const key = keyOf(secret);
      const digest = createHmac('sha256', key).update(before).update(body).digest(encoding);
      // A missing secret would be a key that everybody knows.
      return key.length > 0 && signatures.some((one) => isSame(encoding === 'hex' ? one.toLowerCase() : one, digest));
    };
    if (![trigger.secrets].flat().some((secret) => isSignedWith(secret)))
      throw refused(`The header ${signature} fits no secret of the trigger.`);
  };
}

/** Undefined: the signature or its time is missing. */
function claimIn(
  form: SenderForm,
  headers: DeliveryHeaders,
): { readonly signatures: readonly string[]; readonly time?: string } | undefined {
  const { signature, separator, prefix = '', timestamp, timePrefix } = form;
  const text = headerIn(headers, signature) ?? '';
  const parts = separator === undefined ? [text] : text.split(separator);
  const after = (start: string): readonly string[] =>
    parts.flatMap((part) => (part.startsWith(start) && part !== start ? [part.slice(start.length)] : []));
  const signatures = after(prefix);
  if (signatures.length === 0) return undefined;
  if (timestamp === undefined && timePrefix === undefined) return { signatures };
  const [time, ...more] = timePrefix === undefined ? [headerIn(headers, timestamp ?? '')] : after(timePrefix);
  return time === undefined || more.length > 0 ? undefined : { signatures, time };
}

function checkTime(time: string, tolerance = '5m', now: number): void {
  if (!/^\d{1,12}$/.test(time)) throw refused('The time of the signature is no number of seconds since 1970.');
  const awayMs = Math.abs(now - Number(time) * 1000);
  if (awayMs <= millisecondsOf(tolerance, 'config-invalid')) return;
  const away = `${Math.round(awayMs / 1000)} s`;
  throw refused(`The delivery was signed ${away} away from the time of the service, and ${tolerance} is the most.`);
}

function refused(message: string): HoldfastError {
  return new HoldfastError('delivery-refused', message);
}

/** Throws 'request-invalid' without a usable id: repeats would not be recognized. */
export function deliveryIdOf(trigger: Pick<TriggerOptions, 'from'>, payload: Json, headers: DeliveryHeaders): string {
  const { id: place } = formOf(trigger);
  let id: unknown;
  try {
    id = typeof place === 'string' ? headerIn(headers, place) : place(payload, headers);
  } catch (error) {
    throw new HoldfastError('request-invalid', `The delivery has no id, because \`from.id\` of the trigger failed: ${messageOf(error)}`);
  }
  if (typeof id === 'string' && /^(?!\.{1,2}$)[!-~]{1,200}$/.test(id)) return id;
  throw new HoldfastError(
    'request-invalid',
    'The delivery has no id of 1 to 200 visible ASCII characters where its sender should put the id.',
  );
}
