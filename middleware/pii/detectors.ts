import { cardsIn, isCardUnit } from './cards';
import { endsBetween, isAddressUnit, isDigit, isLetter, isWordUnit, signOf } from './signs';
import type { Span } from './spans';

export type Kind = 'email' | 'creditCard' | 'ip' | 'url';

export interface RunDetector {
  isPart(unit: number): boolean;
  find(run: string, before: string): readonly Span[];
}

const localMarks = new Set([...".!#$%&'*+/=?_~-"].map((sign) => sign.charCodeAt(0)));
const isHyphenOrDot = (unit: number): boolean => unit === 45 || unit === 46;

const email: RunDetector = {
  isPart: isAddressUnit,
  find(text) {
    const spans: Span[] = [];
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
      const start = Math.max(
        spans.at(-1)?.end ?? 0,
        endOfSigns(text, at, -1, (unit) => localMarks.has(unit)),
      );
      const end = endOfHost(text, at + 1, endOfSigns(text, at + 1, 1, isHyphenOrDot));
      if (start < at && end > at + 1) spans.push({ start, end });
    }
    return spans;
  },
};

function endOfSigns(text: string, from: number, step: 1 | -1, takesMark: (unit: number) => boolean): number {
  let at = from;
  for (let inner = signOf(64); ; at += step) {
    const unit = text.charCodeAt(step === 1 ? at : at - 1);
    const sign = signOf(unit);
    if (sign === 'none' || (sign === 'mark' && !takesMark(unit)) || endsBetween(inner, sign)) return at;
    inner = sign;
  }
}

function endOfHost(text: string, start: number, end: number): number {
  let last = end;
  for (;;) {
    while (last > start && isHyphenOrDot(text.charCodeAt(last - 1))) last -= 1;
    let dot = last - 1;
    while (dot > start && text.charCodeAt(dot) !== 46) dot -= 1;
    if (dot <= start) return start;
    if (last - dot >= 3)
      for (let at = dot + 1; at < last; at++) if (!isDigit(text.charCodeAt(at)) && text.charCodeAt(at) !== 45) return last;
    last = dot;
  }
}

const schemes = ['http', 'https', 'ftp', 'ftps', 'ws', 'wss', 'file', 'ssh', 'sftp'];
const longestScheme = 5;
const trailing = new Set('.,;:!?\'")]*_');

const url: RunDetector = {
  isPart: isAddressUnit,
  find(text) {
    const spans: Span[] = [];
    for (let position = 0; position < text.length;) {
      const start = nextUrl(text, position);
      if (start === undefined) break;
      let end = endOfSigns(text, start, 1, () => true);
      position = end;
      while (end > start && trailing.has(text[end - 1] ?? '')) end -= 1;
      if (!text.startsWith('://', end - 3)) spans.push({ start, end });
    }
    return spans;
  },
};

function nextUrl(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 58 && text.startsWith('://', at) && isAddressUnit(text.charCodeAt(at + 3))) {
      let start = at;
      while (start > from && at - start <= longestScheme && isLetter(text.charCodeAt(start - 1))) start -= 1;
      if (schemes.includes(text.slice(start, at).toLowerCase())) return start;
    }
    if ((unit === 119 || unit === 87) && isWww(text, at)) return at;
  }
  return undefined;
}

function isWww(text: string, at: number): boolean {
  const first = signOf(text.charCodeAt(at + 4));
  return text.slice(at, at + 4).toLowerCase() === 'www.' && (first === 'word' || first === 'dense') && !isLetter(text.charCodeAt(at - 1));
}

const isHex = (unit: number): boolean => isDigit(unit) || (unit >= 65 && unit <= 70) || (unit >= 97 && unit <= 102);
const isVersion4Unit = (unit: number): boolean => isDigit(unit) || unit === 46;
const isVersion6Unit = (unit: number): boolean => isHex(unit) || unit === 46 || unit === 58;
const longestAddress = 45;

const ip: RunDetector = {
  isPart: (unit) => isWordUnit(unit) || unit === 46 || unit === 58,
  find: (text) => [...addressesIn(text, isVersion4Unit, '.', isVersion4), ...addressesIn(text, isVersion6Unit, '.:', isVersion6)],
};

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

const creditCard: RunDetector = { isPart: isCardUnit, find: cardsIn };

export const detectors: Readonly<Record<Kind, RunDetector>> = { email, creditCard, ip, url };
