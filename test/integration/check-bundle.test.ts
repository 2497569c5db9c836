import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { testDirectory } from '../support/test-bed';

/** Checks one bundle again and again, and writes how many MB each time adds outside of the heap of V8. */
const script = `
  const [checks, file] = process.argv.slice(1);
  const { loadInSandbox } = require(checks);
  const bundle = require(file);
  const times = 8;
  (async () => {
    await loadInSandbox(bundle, 'It does not');
    const before = process.memoryUsage().external;
    for (let n = 0; n < times; n++) await loadInSandbox(bundle, 'It does not');
    console.log((process.memoryUsage().external - before) / times / 2 ** 20);
    process.exit();
  })();
`;

it('a bundle that was checked leaves nothing of its source map behind', () => {
  const compiled = join(__dirname, '..', '..', 'dist', 'worker', 'check-bundle.js');
  const bundle = join(testDirectory(), 'fixture-bundle.json');
  const added = Number(execFileSync(process.execPath, ['-e', script, compiled, bundle], { encoding: 'utf8' }));
  // Its map, read into memory, takes more than 2 MB.
  expect(added).toBeLessThan(1);
});
