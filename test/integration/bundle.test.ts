import { fixtureBundle } from '../support/test-bed';

describe('the bundle for the sandbox', () => {
  const modules = [...fixtureBundle().code.matchAll(/^\/\*\*\*\/ "([^"]+)"/gm)].map(([, name]) => name ?? '');

  it('is made of modules that can be told apart', () => {
    expect(modules).toContain('./kernel/turn/loop.ts');
    expect(modules).toContain('./test/fixtures/agents.ts');
  });

  it('has no zod, which costs 6 ms and 570 KB for each run', () => {
    expect(modules.filter((name) => name.includes('/zod/'))).toEqual([]);
  });

  it('has no Node module', () => {
    const code = fixtureBundle().code;
    const required = [...code.matchAll(/require\("([^"]+)"\)/g)]
      .map(([, name]) => name)
      .filter((name) => !/^(\.|@temporalio\/|__temporal)/.test(name ?? ''));
    expect(required).toEqual([]);
    expect(modules.filter((name) => /^(external )?"?(node:|fs|path|crypto|os|http|child_process|worker_threads)/.test(name))).toEqual([]);
  });

  it('has nothing of what runs outside of the sandbox', () => {
    expect(modules.filter((name) => /^\.\/(activities|worker|client|host|service|cli|testing|contract\/schemas)\//.test(name))).toEqual([]);
  });
});
