import { scriptOf } from '../parity/generate';
import { variantDiffers, variantNames } from '../parity/variants';

/** `HOLDFAST_SEED=4711` makes all scripts of a seed again, `HOLDFAST_SEED=4711/17` one of them. */
const [seed = '', alone] = (process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)).split('/');
const numbers = alone === undefined ? Array.from({ length: 30 }, (_, number) => String(number)) : [alone];

describe('random scripts in memory', () => {
  it.each(variantNames)(
    'come to the same %s',
    async (variant) => {
      for (const number of numbers) {
        const script = scriptOf(`${seed}/${number}`);
        expect([`HOLDFAST_SEED=${script.name}`, await variantDiffers(script, variant)]).toEqual([`HOLDFAST_SEED=${script.name}`, '']);
      }
    },
    120_000,
  );
});
