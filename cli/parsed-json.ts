import { HoldfastError, messageOf } from '../contract/errors';
import type { Json } from '../contract/messages/messages';

export function parsedJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new HoldfastError('request-invalid', `${what} is not JSON: ${messageOf(error)}`);
  }
}
