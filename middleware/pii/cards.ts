import { isDigit } from './signs';
import type { Span } from './spans';

const wideGaps = new Set([0xa0, 0x202f, 0x2007, 0x2008, 0x2009, 0x2010, 0x2011, 0x2012, 0x2013]);
export const isGap = (unit: number): boolean => unit === 32 || unit === 45 || wideGaps.has(unit);
export const isCardUnit = (unit: number): boolean => isDigit(unit) || isGap(unit);

const shortestCard = 13;
const longestCard = 19;
export const cardReach = 2 * longestCard;

export function cardsIn(text: string, before: string): readonly Span[] {
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
}

/** Later text may change cards from here on. */
export function undecidedIn(text: string): number {
  if (text.length <= 2 * cardReach) return 0;
  // No card begins inside a number.
  for (let at = text.length - 2 * cardReach; at < text.length - cardReach; at++) if (isGap(text.charCodeAt(at))) return at;
  let number = text.length - 2 * cardReach;
  while (number > 0 && isDigit(text.charCodeAt(number - 1))) number -= 1;
  return number;
}

function cardAt(text: string, start: number): number | undefined {
  // Luhn doubles every second digit from the right. The end is unknown yet, hence two sums.
  let [digits, plain, doubled, first] = [0, 0, 0, 0];
  let found: number | undefined;
  for (let at = start; at < text.length && digits < longestCard; at++) {
    const unit = text.charCodeAt(at);
    if (isDigit(unit)) {
      const digit = unit - 48;
      if (digits === 0) first = digit;
      digits += 1;
      [plain, doubled] = [doubled + digit, plain + (digit > 4 ? 2 * digit - 9 : 2 * digit)];
      const isCard = digits >= shortestCard && plain % 10 === 0 && plain > 0 && isIssued(first, digits);
      if (isCard && !isDigit(text.charCodeAt(at + 1))) found = at + 1;
    } else if (!isGap(unit) || !isDigit(text.charCodeAt(at + 1))) break;
  }
  return found;
}

/** Numbers from 1 are mostly times, except for airlines. Thirteen digits begin with 4 to 6. */
function isIssued(first: number, digits: number): boolean {
  if (first === 1) return digits === 15;
  return digits > shortestCard || (first >= 4 && first <= 6);
}
