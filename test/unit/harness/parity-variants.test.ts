import { scriptOf } from '../../parity/generate';
import { representatives } from '../../parity/seeds';
import { variantDiffers, variantNames } from '../../parity/variants';

it.each(variantNames)('scripts in memory come to the same %s', async (variant) => {
  for (const name of representatives) expect([name, await variantDiffers(scriptOf(name), variant)]).toEqual([name, '']);
});
