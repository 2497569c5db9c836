const most = 100;

export function cut(text: string): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** Joins texts as `a, b or c`. */
export function anyOf(texts: readonly string[]): string {
  return [texts.slice(0, -1).join(', '), ...texts.slice(-1)].filter((part) => part !== '').join(' or ');
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  if (typeof value === 'number') return String(value);
  if (typeof value === 'bigint') return cut(`${value}n`);
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  // These objects have no content in JSON.
  const [, kind] = /^\[object (Promise|Map|Set|WeakMap|WeakSet|RegExp|Error)\]$/.exec(Object.prototype.toString.call(value)) ?? [];
  if (kind !== undefined) return `${kind === 'Error' ? 'an' : 'a'} ${kind}`;
  try {
    return cut(JSON.stringify(value) ?? String(value));
  } catch {
    return 'an object that is no JSON';
  }
}

export function shownName(name: unknown): string {
  return typeof name === 'string' ? cut(name) : shown(name);
}
