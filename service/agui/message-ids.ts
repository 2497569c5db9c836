import { isMessageId } from '../../contract/conversations';
import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';

const encoded = 'agui.';

/** The id under which a conversation knows a message of a client. Most stay as they are. */
export function sentIdOf(id: string): string {
  const sent = isMessageId(id) && !id.startsWith(encoded) ? id : `${encoded}${Buffer.from(id).toString('base64url')}`;
  if (isMessageId(sent)) return sent;
  throw new HoldfastError('request-invalid', `The id of a message must have 1 to 70 bytes. This one is ${shown(id)}.`);
}

/** The id that the client gave the message. */
export function clientIdOf(sent: string): string {
  return sent.startsWith(encoded) ? Buffer.from(sent.slice(encoded.length), 'base64url').toString() : sent;
}
