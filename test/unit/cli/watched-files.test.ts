import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WatchedFiles } from '../../../cli/processes/watched-files';

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

interface Bed {
  readonly at: (name: string) => string;
  readonly change: () => Promise<readonly string[]>;
}

function watching(...names: readonly string[]): Bed {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-watch-')));
  const at = (name: string): string => join(folder, name);
  for (const name of names) writeFileSync(at(name), 'first');
  let told: () => void = () => undefined;
  const files = new WatchedFiles(() => told());
  files.set(names.map(at), Date.now() + 1000);
  opened.push(() => {
    files.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const change = async (): Promise<readonly string[]> => {
    for (;;) {
      await new Promise<void>((resolve) => (told = resolve));
      const { changed } = files.take();
      if (changed.length > 0) return changed.map((file) => file.slice(folder.length + 1)).sort();
    }
  };
  return { at, change };
}

describe('watched files', () => {
  it('tell a burst of saves once', async () => {
    const { at, change } = watching('a.ts', 'b.ts');
    const changed = change();
    for (let n = 0; n < 20; n++) writeFileSync(at(n % 2 === 0 ? 'a.ts' : 'b.ts'), `text ${n}`);
    expect(await changed).toEqual(['a.ts', 'b.ts']);
  });

  it('tell a file that an editor put in the place of the old one, again and again', async () => {
    const { at, change } = watching('a.ts');
    for (const text of ['second', 'third']) {
      const changed = change();
      writeFileSync(at('a.ts~'), text);
      renameSync(at('a.ts~'), at('a.ts'));
      expect(await changed).toEqual(['a.ts']);
    }
  });

  it.each([
    ['file', 'a.ts'],
    ['folder', '.'],
  ])('tell a file when it or its %s is deleted, and that it is back', async (_, deleted) => {
    const { at, change } = watching('a.ts');
    const gone = change();
    rmSync(at(deleted), { recursive: true });
    expect(await gone).toEqual(['a.ts']);
    const back = change();
    mkdirSync(at('.'), { recursive: true });
    writeFileSync(at('a.ts'), 'second');
    expect(await back).toEqual(['a.ts']);
  });

  it('tell nothing where the content stays', async () => {
    const { at, change } = watching('a.ts', 'b.ts');
    const changed = change();
    writeFileSync(at('a.ts'), 'first');
    utimesSync(at('a.ts'), new Date(), new Date());
    writeFileSync(at('b.ts'), 'second');
    expect(await changed).toEqual(['b.ts']);
  });
});
