import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../../contract/errors';
import { BundleStore } from '../../../worker/bundle/bundle-store';
import { Findings } from '../../../worker/builds/findings';
import { errorSaying } from '../../support/failures';

const buildId = '0123456789abcdef';
const map = `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from('{"version":3}').toString('base64')}\n`;
const bundle = { buildId, code: `var __TEMPORAL__;\nglobalThis.text = 'Grüße';${map}` };

describe('the directory of bundles', () => {
  let directory: string;
  let store: BundleStore;
  const path = (): string => join(directory, `${buildId}.js`);
  beforeEach(async () => {
    directory = join(mkdtempSync(join(tmpdir(), 'holdfast-bundles-')), 'bundles');
    store = new BundleStore(directory);
    await store.save(bundle);
  });

  it('gives back what was saved, and leaves nothing beside it', async () => {
    expect(await store.load(buildId)).toEqual(bundle);
    expect(await store.holds(buildId)).toBe(true);
    expect(readdirSync(directory)).toEqual([`${buildId}.js`]);
  });

  const whole = (): Buffer => readFileSync(path());
  it.each<[string, () => Buffer | string]>([
    ['is empty', () => ''],
    ['ends too early', () => whole().subarray(0, -1)],
    ['has one other bit', () => Buffer.from(whole().toString('latin1').replace('text', 'uext'), 'latin1')],
    ['has zeros for a page', () => Buffer.concat([Buffer.alloc(64), whole().subarray(64)])],
    ['is no text', () => Buffer.from(whole().toString('latin1').replace('Gr', '\xff\xfe'), 'latin1')],
    ['has the code of another build', () => whole().toString().replace(buildId, 'fedcba9876543210')],
    ['has another first line', () => whole().toString().replace('// holdfast', '//holdfast').replace('Gr', 'Kr')],
    ['has other ends of lines', () => whole().toString().replaceAll('\n', '\r\n')],
    ['has lost its first line', () => bundle.code],
  ])('says that a file is damaged that %s, and takes the same build anew', async (_, content) => {
    writeFileSync(path(), content());
    expect(await store.holds(buildId)).toBe(false);
    await expect(store.load(buildId)).rejects.toMatchObject(errorSaying('build-damaged', buildId));
    await store.save(bundle);
    expect(await store.load(buildId)).toEqual(bundle);
  });

  it('says that a build is damaged that is no file, and that one is missing that is not there', async () => {
    rmSync(path());
    await expect(store.load(buildId)).rejects.toMatchObject({ code: 'build-missing' });
    mkdirSync(path());
    await expect(store.load(buildId)).rejects.toMatchObject(errorSaying('build-damaged', 'EISDIR'));
    await expect(store.save(bundle)).rejects.toMatchObject(errorSaying('build-damaged', 'A folder'));
    expect(readdirSync(directory)).toEqual([`${buildId}.js`]);
  });

  it('takes other files for no builds', async () => {
    for (const name of ["it's.js", `${buildId}.js.42`, 'README.md']) writeFileSync(join(directory, name), '');
    expect(await store.builds()).toEqual([buildId]);
  });
});

describe('what a worker finds when it looks at builds', () => {
  const told: string[] = [];
  let findings: Findings;
  beforeEach(() => {
    told.length = 0;
    findings = new Findings(({ code, message }) => told.push(`${code}: ${message}`));
  });
  const look = (error?: Error): Promise<number | undefined> =>
    findings.during({
      name: 'one',
      failed: 'It could not be seen',
      work: () => (error === undefined ? Promise.resolve(1) : Promise.reject(error)),
    });

  it('is told at once and once when it has a code, and again when it comes back', async () => {
    const damaged = new HoldfastError('build-damaged', 'It is damaged.');
    expect(await look(damaged)).toBeUndefined();
    await look(damaged);
    await look(new HoldfastError('build-missing', 'It is gone.'));
    expect(await look()).toBe(1);
    await look(damaged);
    expect(told).toEqual(['build-damaged: It is damaged.', 'build-missing: It is gone.', 'build-damaged: It is damaged.']);
  });

  it('is told once it lasts when it may be a moment of the server', async () => {
    const busy = new Error('4 DEADLINE_EXCEEDED');
    await look(busy);
    expect(findings.untold).toBe(true);
    await look();
    expect(findings.untold).toBe(false);
    for (let looks = 0; looks < 3; looks++) await look(busy);
    expect(told).toEqual(['build-check-failed: It could not be seen: 4 DEADLINE_EXCEEDED']);
  });
});
