import { HoldfastError, messageOf } from '../contract/errors';
import type { Json } from '../contract/messages/messages';

export function parsedJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new HoldfastError('request-invalid', `${what} is not JSON: ${messageOf(error)}`);
  }
}

/** A text without JSON is allowed, unless the text begins as an object, a list or a string of JSON. */
export function jsonOrText(text: string, what = 'The answer'): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (!/^\s*[{["]/.test(text)) return text;
    throw new HoldfastError(
      'request-invalid',
      `${what} is not JSON: ${messageOf(error)}. Write a text that begins so as a string of JSON.`,
    );
  }
}
