import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as Bundle from '../../worker/bundle/bundle';
import { bundleOnce } from '../../worker/bundle/bundle-memory';
import { BundleStore } from '../../worker/bundle/bundle-store';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-memory-'));
const bundles = join(folder, 'bundles');
const agents = join(folder, 'agents.ts');
const store = new BundleStore(bundles);

/** Dated before the bundler's start, so that the file does not count as just changed. */
function write(name: string, text: string): void {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  utimesSync(path, 1_000_000, 1_000_000);
}

function agent(instructions: string): string {
  return `import { defineAgent } from 'holdfast/workflow';
import { words } from './words';
export const one = defineAgent({ name: 'one', description: 'One.', instructions: ${JSON.stringify(instructions)} + words, model: 'default' });
`;
}

const bundler = jest.fn();
jest.mock('../../worker/bundle/bundle', () => {
  const actual = jest.requireActual<typeof Bundle>('../../worker/bundle/bundle');
  return {
    ...actual,
    bundleFrom: (path: string) => {
      bundler();
      return actual.bundleFrom(path);
    },
  };
});

async function bundled(): Promise<readonly [string, 'known' | 'made']> {
  bundler.mockClear();
  const bundle = await bundleOnce(agents, bundles, store);
  await store.save(bundle);
  return [bundle.buildId, bundler.mock.calls.length === 0 ? 'known' : 'made'];
}

/** Moves the clock so that no change is recent. */
async function aMinuteLater<T>(work: () => Promise<T>): Promise<T> {
  const later = Date.now() + 60_000;
  const clock = jest.spyOn(Date, 'now').mockReturnValue(later);
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
}

describe('the bundle of agents', () => {
  let first = '';
  beforeAll(async () => {
    write('words/index.ts', `export const words = 'Be kind.';`);
    write('agents.ts', agent('Help.'));
    first = (await bundled())[0];
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is not made again while nothing has changed', async () => {
    expect(await bundled()).toEqual([first, 'known']);
  });

  it('is not made again when a file was written anew with the same content', async () => {
    write('words/index.ts', `export const words = 'Be kind.';`);
    expect(await bundled()).toEqual([first, 'known']);
  });

  it('is made anew when a file changes that was known by its times, though its size and its time stay', async () => {
    expect(await aMinuteLater(bundled)).toEqual([first, 'known']);
    write('words/index.ts', `export const words = 'Be kin9.';`);
    const [other, how] = await aMinuteLater(bundled);
    expect([other === first, how]).toEqual([false, 'made']);
  });

  it.each([
    ['a file has another content, of the same size and time', () => write('words/index.ts', `export const words = 'Be kin8.';`)],
    ['a file appears that is found before another', () => write('words.ts', `export const words = 'Be brief.';`)],
    ['a file is gone', () => rmSync(join(folder, 'words.ts'))],
  ])('is made anew when %s', async (_, change) => {
    const before = (await bundled())[0];
    change();
    const [after, how] = await bundled();
    expect(how).toBe('made');
    expect(after).not.toBe(before);
  });

  it('is made anew when its file is damaged', async () => {
    const [build] = await bundled();
    writeFileSync(join(bundles, `${build}.js`), 'nothing');
    expect(await bundled()).toEqual([build, 'made']);
  });

  it('is made anew when what is remembered cannot be read', async () => {
    const [build] = await bundled();
    for (const name of readdirSync(bundles)) if (name.endsWith('.inputs.json')) writeFileSync(join(bundles, name), '{');
    expect(await bundled()).toEqual([build, 'made']);
  });
});
