import { mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeUsable } from '../../../cli/processes/usable-directory';
import { errorOf } from '../../support/failures';

describe('the directory of HOLDFAST_DIR', () => {
  const place = mkdtempSync(join(tmpdir(), 'holdfast-usable-'));
  const refused = (directory: string): void =>
    expect(() => makeUsable(directory)).toThrow(
      errorOf('config-invalid', expect.stringContaining(`HOLDFAST_DIR, which is ${directory}, has to be a directory`)),
    );

  it('is made with those that it stands in, and may be there already', () => {
    const inside = join(place, 'one', 'two');
    makeUsable(inside);
    makeUsable(inside);
    expect(statSync(inside).isDirectory()).toBe(true);
  });

  it('is refused where it is a file or stands in one', () => {
    const file = join(place, 'file');
    writeFileSync(file, '');
    refused(file);
    refused(join(file, 'inside'));
    refused(join(file, 'inside', 'deeper'));
  });

  it('is refused where it is a link that leads nowhere', () => {
    const link = join(place, 'link');
    symlinkSync(join(place, 'nowhere'), link);
    refused(link);
  });

  // Node retries for ever if it may create the directories around the path.
  (process.platform === 'linux' ? it : it.skip)('is refused where a file system takes no directories', () => {
    refused('/proc/nope');
    refused('/proc/nope/deeper');
  });
});
