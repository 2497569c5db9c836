import { withSandboxHint } from '../../../contract/sandbox-lacks';

describe('a message about what the sandbox lacks', () => {
  it.each([
    ['fetch is not defined', 'fetch is not defined. The sandbox has no fetch: use it in a tool, or in a worker middleware.'],
    ['ReferenceError: fetch is not defined', 'fetch is not defined. The sandbox has no fetch: use it in a tool, or'],
    ['fetch failed', 'fetch failed. The sandbox has no fetch: use it in a tool, or'],
    ['process is not defined.', 'process is not defined. The sandbox has no process: read it in a tool, or give what it has'],
    ['require is not defined', 'require is not defined. The sandbox has no require: write `import`, or use the module in a tool.'],
  ])('says what to do: %s', (message, said) => expect(withSandboxHint(message)).toContain(said));

  it.each(['totl is not defined', 'The fetch failed', 'constructor is not defined', ''])(
    'stays as it is where Node lacks it, too: %s',
    (message) => expect(withSandboxHint(message)).toBe(message),
  );
});
