import { join } from 'node:path';
import { madeBundle } from '../support/made-bundle';
import { Sandbox } from './activations';
import { packedHistories } from './packed-histories';

const root = join(__dirname, '..', '..');

/** Matches async functions, to add one more promise. */
const asyncFunction = /(?<=\basync (?:function )?\w*\s*\([^;{}]*?\)(?: =>)? \{)(?!\})/g;

function withMorePromises(code: string): { readonly code: string; readonly count: number } {
  let count = 0;
  const modules = code.split(/(?=\/\*\*\*\/ "\.\/)/);
  const changed = modules.map((module) =>
    /^\/\*\*\*\/ "\.\/(?:dist\/)?(?:kernel|middleware)\//.test(module)
      ? module.replace(asyncFunction, () => ((count += 1), ' await null;'))
      : module,
  );
  return { code: changed.join(''), count };
}

describe('code with one promise more in each async function of hooks, kernel and built-ins', () => {
  it('replays the recorded histories of random scripts', async () => {
    const bundle = await madeBundle(join(root, 'test/parity/agents.ts'));
    const { code, count } = withMorePromises(bundle.code);
    expect(count).toBeGreaterThan(50);
    const sandbox = await Sandbox.open(code, packedHistories(join(root, 'test/replay/histories/scripts')));
    await sandbox.close();
    expect(sandbox.runs.length).toBeGreaterThan(50);
    expect(sandbox.runs.flatMap(({ id, error }) => (error === undefined ? [] : `${id}: ${error.message}`))).toEqual([]);
  });
});
