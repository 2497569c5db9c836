/** `dense`: a letter of a script without blanks between words. `mark`: a sign of addresses, such as a dot. */
export type Sign = 'word' | 'dense' | 'mark' | 'none';

const outside = new Set([...'<>"`{}|\\^'].map((sign) => sign.charCodeAt(0)));
const letters = /[\p{L}\p{M}\p{N}]/u;
const denseScripts =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}\p{scx=Tibetan}]/u;

export const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
export const isLetter = (unit: number): boolean => (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);
export const isWordUnit = (unit: number): boolean => isDigit(unit) || isLetter(unit) || unit === 95;

const ascii = Array.from({ length: 0x80 }, (_, unit): Sign => {
  if (isDigit(unit) || isLetter(unit)) return 'word';
  return unit > 0x20 && unit < 0x7f && !outside.has(unit) ? 'mark' : 'none';
});

export function signOf(unit: number): Sign {
  const known = ascii[unit];
  if (known !== undefined) return known;
  // Surrogates are mostly pictures. NaN is the text's end.
  if (!(unit >= 0xaa) || (unit >= 0xd800 && unit <= 0xdfff)) return 'none';
  const sign = String.fromCharCode(unit);
  if (!letters.test(sign)) return 'none';
  return denseScripts.test(sign) ? 'dense' : 'word';
}

export const isAddressUnit = (unit: number): boolean => signOf(unit) !== 'none';

export function endsBetween(inner: Sign, outer: Sign): boolean {
  return inner === 'word' && outer === 'dense';
}
