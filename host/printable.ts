/** Control characters except tab and newline, marks of text direction, and other line ends. */
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text for a terminal. Texts of models, tools, people and providers must not steer the terminal, nor hide the call to be approved. JSON escapes
 * keep JSON equal. Only the terminal of the commands and the logger call this function, as the last step.
 */
export function printable(text: string): string {
  return text.replace(steering, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function onOneLine(text: string): string {
  return text.replace(/\n\s*/g, ' ');
}
