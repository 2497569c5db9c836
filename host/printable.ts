const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Texts of models and people must not steer the terminal or hide a call from approval. JSON stays equal. Only the commands and the logger
 * call this, last.
 */
export function printable(text: string): string {
  return text.replace(steering, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function onOneLine(text: string): string {
  return text.replace(/\n\s*/g, ' ');
}
