/** Fixed in the gate. `npm run nightly` sets and prints a new seed. */
export const seed = process.env['HOLDFAST_SEED'] ?? '4711';
