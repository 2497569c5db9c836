const constants = fractions(64, 3);
const beginning = fractions(8, 2);

/** Runs without Node, equal in the sandbox and on a worker. */
export function sha256(text: string): string {
  const words = padded(utf8(text));
  const state = [...beginning];
  for (let block = 0; block < words.length; block += 16) compress(state, words.subarray(block, block + 16));
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

const leads = [0, 0xc0, 0xe0, 0xf0];

function utf8(text: string): readonly number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    const code = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
    const following = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes.push((leads[following] as number) | (code >> (6 * following)));
    for (let left = following - 1; left >= 0; left--) bytes.push(0x80 | ((code >> (6 * left)) & 0x3f));
  }
  return bytes;
}

function padded(bytes: readonly number[]): Uint32Array {
  const words = new Uint32Array((((bytes.length + 8) >> 6) + 1) * 16);
  const set = (position: number, byte: number): void => {
    words[position >> 2] = (words[position >> 2] ?? 0) | (byte << (24 - (position & 3) * 8));
  };
  bytes.forEach((byte, position) => set(position, byte));
  set(bytes.length, 0x80);
  words[words.length - 2] = Math.floor(bytes.length / 0x20000000);
  words[words.length - 1] = bytes.length << 3;
  return words;
}

function compress(state: number[], block: Uint32Array): void {
  const schedule = new Int32Array(64);
  for (let i = 0; i < 64; i++) {
    if (i < 16) {
      schedule[i] = at(block, i);
      continue;
    }
    const [early, late] = [at(schedule, i - 15), at(schedule, i - 2)];
    const low = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const high = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    schedule[i] = at(schedule, i - 16) + low + at(schedule, i - 7) + high;
  }
  let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g);
    const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + at(constants, i) + at(schedule, i)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = ((state[i] as number) + word) | 0));
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function at(words: ArrayLike<number>, position: number): number {
  return words[position] as number;
}

/** The initial numbers of the standard. */
function fractions(count: number, root: 2 | 3): readonly number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (!isPrime(candidate)) continue;
    const value = root === 2 ? Math.sqrt(candidate) : Math.cbrt(candidate);
    found.push(Math.floor((value - Math.floor(value)) * 0x100000000) | 0);
  }
  return found;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) return false;
  return true;
}
