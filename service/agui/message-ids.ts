import { isMessageId } from '../../contract/conversations';
import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';

const encoded = 'agui.';
const again = '.said-again.';
const sentAgain = /\.said-again\.\d+$/;

export function sentIdOf(id: string): string {
  const sent =
    isMessageId(id) && !id.startsWith(encoded) && !sentAgain.test(id) ? id : `${encoded}${Buffer.from(id).toString('base64url')}`;
  if (isMessageId(sent)) return sent;
  throw new HoldfastError('request-invalid', `The id of a message must have 1 to 70 bytes. This one is ${shown(id)}.`);
}

/** For a message that is sent again after a failed or stopped turn. Undefined: the id would be too long. */
export function sentAgainIdOf(sent: string, nth: number): string | undefined {
  const id = `${sent}${again}${nth}`;
  return isMessageId(id) ? id : undefined;
}

export function clientIdOf(sent: string): string {
  const first = sent.replace(sentAgain, '');
  return first.startsWith(encoded) ? Buffer.from(first.slice(encoded.length), 'base64url').toString() : first;
}
