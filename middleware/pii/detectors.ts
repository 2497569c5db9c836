import type { Span } from './spans';

export type Kind = 'email' | 'creditCard' | 'ip' | 'url';

/** Looks for one kind of data. Both functions take one pass over a text, whatever it is. */
export interface Detector {
  /** `before`: the sign before the text. */
  find(text: string, before: string): readonly Span[];
  /** From where on the text may still become part of a match when more of it comes. */
  held(text: string): number;
}

/** Signs of addresses of all kinds: a match lies inside of a run of them. */
function isRunUnit(unit: number): boolean {
  if (unit >= 0xc0 && unit <= 0x24f) return true;
  return unit > 0x20 && unit < 0x7f && !outside.has(unit);
}

const outside = new Set([...'<>"`{}|\\^'].map((sign) => sign.charCodeAt(0)));
const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
const isLetter = (unit: number): boolean => (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);
const isWide = (unit: number): boolean => unit >= 0xc0 && unit <= 0x24f;
const isHostUnit = (unit: number): boolean => isDigit(unit) || isLetter(unit) || unit === 45 || unit === 46;
const localSigns = new Set([...".!#$%&'*+/=?^_~-"].map((sign) => sign.charCodeAt(0)));
const isLocalUnit = (unit: number): boolean => isDigit(unit) || isLetter(unit) || isWide(unit) || localSigns.has(unit);

function heldRun(text: string): number {
  let start = text.length;
  while (start > 0 && isRunUnit(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

const email: Detector = {
  held: heldRun,
  find(text) {
    const spans: Span[] = [];
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
      const least = spans.at(-1)?.end ?? 0;
      let start = at;
      while (start > least && isLocalUnit(text.charCodeAt(start - 1))) start -= 1;
      let end = at + 1;
      while (end < text.length && isHostUnit(text.charCodeAt(end))) end += 1;
      end = endOfHost(text, at + 1, end);
      if (start < at && end > at + 1) spans.push({ start, end });
    }
    return spans;
  },
};

/** Where the name of a host with a top-level domain ends; its start when it is none. */
function endOfHost(text: string, start: number, end: number): number {
  let last = end;
  for (;;) {
    while (last > start && !isLetter(text.charCodeAt(last - 1)) && !isDigit(text.charCodeAt(last - 1))) last -= 1;
    let dot = last - 1;
    while (dot > start && text.charCodeAt(dot) !== 46) dot -= 1;
    if (dot <= start) return start;
    if (last - dot >= 3) for (let at = dot + 1; at < last; at++) if (isLetter(text.charCodeAt(at))) return last;
    // What follows without a blank is no part of the name: the next sentence.
    last = dot;
  }
}

const schemes = ['http', 'https', 'ftp', 'ftps', 'ws', 'wss', 'file', 'ssh', 'sftp'];
const longestScheme = 5;
const trailing = new Set('.,;:!?\'")]*_');

const url: Detector = {
  held: heldRun,
  find(text) {
    const spans: Span[] = [];
    for (let position = 0; position < text.length;) {
      const start = nextUrl(text, position);
      if (start === undefined) break;
      let end = start;
      while (end < text.length && isRunUnit(text.charCodeAt(end))) end += 1;
      position = end;
      while (end > start && trailing.has(text[end - 1] ?? '')) end -= 1;
      // A scheme alone leads nowhere.
      if (!text.startsWith('://', end - 3)) spans.push({ start, end });
    }
    return spans;
  },
};

function nextUrl(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 58 && text.startsWith('://', at) && isRunUnit(text.charCodeAt(at + 3))) {
      let start = at;
      while (start > from && at - start <= longestScheme && isLetter(text.charCodeAt(start - 1))) start -= 1;
      if (schemes.includes(text.slice(start, at).toLowerCase())) return start;
    }
    if ((unit === 119 || unit === 87) && /^www\.[a-z0-9]/i.test(text.slice(at, at + 5)) && !isLetter(text.charCodeAt(at - 1))) return at;
  }
  return undefined;
}

const isHex = (unit: number): boolean => isDigit(unit) || (unit >= 65 && unit <= 70) || (unit >= 97 && unit <= 102);
const isVersion4Unit = (unit: number): boolean => isDigit(unit) || unit === 46;
const isVersion6Unit = (unit: number): boolean => isHex(unit) || unit === 46 || unit === 58;
const isWordUnit = (unit: number): boolean => isDigit(unit) || isLetter(unit) || unit === 95;
const longestAddress = 45;

const ip: Detector = {
  held: heldRun,
  find: (text) => [...addressesIn(text, isVersion4Unit, '.', isVersion4), ...addressesIn(text, isVersion6Unit, '.:', isVersion6)],
};

/** Runs of the signs of an address, without the marks around them, that are one and no part of a word. */
function addressesIn(
  text: string,
  isUnit: (unit: number) => boolean,
  marks: string,
  isAddress: (text: string) => boolean,
): readonly Span[] {
  const spans: Span[] = [];
  const isMark = (at: number, beside: number): boolean => marks.includes(text[at] ?? ' ') && text[beside] !== ':';
  for (let position = 0; position < text.length; position++) {
    if (!isUnit(text.charCodeAt(position))) continue;
    let start = position;
    while (position < text.length && isUnit(text.charCodeAt(position))) position += 1;
    let end = position;
    while (start < end && isMark(start, start + 1)) start += 1;
    while (end > start && isMark(end - 1, end - 2)) end -= 1;
    if (end - start > longestAddress || !isAddress(text.slice(start, end))) continue;
    const isCut = (inside: number, beside: number): boolean => isWordUnit(text.charCodeAt(inside)) && isWordUnit(text.charCodeAt(beside));
    if (!isCut(start, start - 1) && !isCut(end - 1, end)) spans.push({ start, end });
  }
  return spans;
}

function isVersion4(text: string): boolean {
  const octets = text.length > 15 ? [] : text.split('.');
  return octets.length === 4 && octets.every((octet) => /^\d{1,3}$/.test(octet) && Number(octet) <= 255);
}

function isVersion6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2 || !/\d/.test(text)) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const embedded = last.includes('.');
  if (embedded && !isVersion4(last)) return false;
  const plain = embedded ? groups.slice(0, -1) : groups;
  const count = plain.length + (embedded ? 2 : 0);
  return plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) && (halves.length === 2 ? count < 8 : count === 8);
}

const isGap = (unit: number): boolean => unit === 32 || unit === 45 || unit === 160;
const isCardUnit = (unit: number): boolean => isDigit(unit) || isGap(unit);
const shortestCard = 13;
const longestCard = 19;
/** Nineteen digits with a gap between any two, and what stands around them. */
const cardReach = 2 * longestCard;

const creditCard: Detector = {
  held(text) {
    let start = text.length;
    while (start > 0 && isCardUnit(text.charCodeAt(start - 1))) start -= 1;
    while (start < text.length && isGap(text.charCodeAt(start))) start += 1;
    if (text.length - start <= 2 * cardReach) return start;
    // A long list of numbers: what began so far back is decided. No card begins in the middle of a number.
    for (let at = text.length - 2 * cardReach; at < text.length - cardReach; at++) if (isGap(text.charCodeAt(at))) return at;
    let number = text.length - 2 * cardReach;
    while (number > start && isDigit(text.charCodeAt(number - 1))) number -= 1;
    return number;
  },
  find(text, before) {
    const spans: Span[] = [];
    let end = 0;
    for (let start = 0; start < text.length; start++) {
      if (start < end || !isDigit(text.charCodeAt(start))) continue;
      if (isDigit((start === 0 ? before : (text[start - 1] ?? '')).charCodeAt(0))) continue;
      const found = cardAt(text, start);
      if (found === undefined) continue;
      spans.push({ start, end: found });
      end = found;
    }
    return spans;
  },
};

/** Where the longest card number that begins here ends. */
function cardAt(text: string, start: number): number | undefined {
  const digits: number[] = [];
  let found: number | undefined;
  for (let at = start; at < text.length && digits.length < longestCard; at++) {
    const unit = text.charCodeAt(at);
    if (isDigit(unit)) {
      digits.push(unit - 48);
      if (digits.length >= shortestCard && !isDigit(text.charCodeAt(at + 1)) && fitsLuhn(digits)) found = at + 1;
    } else if (!isGap(unit) || !isDigit(text.charCodeAt(at + 1))) break;
  }
  return found;
}

/** Every second digit from the right doubled, and the sum a multiple of ten. */
function fitsLuhn(digits: readonly number[]): boolean {
  const sum = digits.reduce((total, digit, position) => {
    const doubled = (digits.length - position) % 2 === 0 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0 && digits.some((digit) => digit !== 0);
}

export const detectors: Readonly<Record<Kind, Detector>> = { email, creditCard, ip, url };
