/** The seed of the scripts and batches of a test: a fixed one in the gate. `npm run nightly` sets another one each night, and prints it. */
export const seed = process.env['HOLDFAST_SEED'] ?? '4711';
