import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { keptTimeout } from '../../../service/kept-timeout';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it.each<[string, () => AbortSignal]>([
  ['a combined signal', () => AbortSignal.any([new AbortController().signal, keptTimeout(200)])],
  ['a signal combined with a combined signal', () => AbortSignal.any([AbortSignal.any([keptTimeout(200)]), new AbortController().signal])],
])(
  'a kept timeout aborts %s also when Node has collected garbage',
  async (_, made) => {
    const signal = made();
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    for (let time = 0; time < 3; time++) {
      await new Promise(setImmediate);
      collect();
    }
    await aborted;
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  },
  10_000,
);
