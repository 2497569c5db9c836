import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleOnce } from '../../worker/bundle-memory';
import { BundleStore } from '../../worker/bundle-store';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-memory-'));
const bundles = join(folder, 'bundles');
const agents = join(folder, 'agents.ts');
const store = new BundleStore(bundles);

/** As a file that was there before the bundler began. */
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

/** The build, and whether the bundler was needed for it. */
async function bundled(): Promise<readonly [string, 'known' | 'made']> {
  const remembered = (): readonly string[] => readdirSync(bundles).filter((name) => name.endsWith('.inputs.json'));
  mkdirSync(bundles, { recursive: true });
  for (const name of remembered()) utimesSync(join(bundles, name), 1, 1);
  const bundle = await bundleOnce(agents, bundles, store);
  await store.save(bundle);
  const { mtimeMs } = await import('node:fs').then(({ statSync }) => statSync(join(bundles, remembered()[0] ?? '')));
  return [bundle.buildId, mtimeMs === 1000 ? 'known' : 'made'];
}

describe('the bundle of agents', () => {
  let first = '';
  beforeAll(async () => {
    write('words/index.ts', `export const words = 'Be kind.';`);
    write('agents.ts', agent('Help.'));
    first = (await bundled())[0];
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is not made again while nothing has changed', async () => {
    expect(await bundled()).toEqual([first, 'known']);
  });

  it.each([
    ['a file has another content, of the same size and time', () => write('words/index.ts', `export const words = 'Be kin8.';`)],
    ['a file appears that is found before another', () => write('words.ts', `export const words = 'Be brief.';`)],
    ['a file is gone', () => rmSync(join(folder, 'words.ts'))],
  ])(
    'is made anew when %s',
    async (_, change) => {
      const before = (await bundled())[0];
      change();
      const [after, how] = await bundled();
      expect(how).toBe('made');
      expect(after).not.toBe(before);
    },
    60_000,
  );

  it('is made anew when its file is damaged', async () => {
    const [build] = await bundled();
    writeFileSync(join(bundles, `${build}.js`), 'nothing');
    expect(await bundled()).toEqual([build, 'made']);
  }, 60_000);

  it('is made anew when what is remembered cannot be read', async () => {
    const [build] = await bundled();
    for (const name of readdirSync(bundles)) if (name.endsWith('.inputs.json')) writeFileSync(join(bundles, name), '{');
    expect(await bundled()).toEqual([build, 'made']);
  }, 60_000);
});
