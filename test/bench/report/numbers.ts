export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

export function spread(values: readonly number[]): { readonly p50: number; readonly p95: number } {
  return { p50: rounded(median(values), 1), p95: rounded(percentile(values, 0.95), 1) };
}

/** Milliseconds since 1970 with fractions, equal in all processes. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** New random words, because repeated words would compress well. */
export function randomWords(bytes: number): string {
  let text = '';
  while (text.length < bytes) {
    for (let letter = 0; letter < 7; letter++) text += letters[Math.floor(Math.random() * letters.length)];
    text += ' ';
  }
  return text.slice(0, bytes);
}
