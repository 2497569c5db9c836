/** Control characters but tab and newline, what turns the direction of a text, and what ends a line beside a newline. */
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text as a terminal may get it: what models, tools, people and providers wrote must not steer the terminal, nor hide from a person what is to be
 * approved. The escapes are those of JSON, so that JSON stays the same value. Only the terminal of the commands and the logger call this, behind all else.
 */
export function printable(text: string): string {
  return text.replace(steering, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A text that begins no line of its own. */
export function onOneLine(text: string): string {
  return text.replace(/\n\s*/g, ' ');
}
