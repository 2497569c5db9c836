import { DevWithClients } from '../support/dev-with-clients';

const dev = new DevWithClients('ai-sdk');

describe('the clients of AI SDK', () => {
  // Version 7 declares Node 22 and runs on 20.
  const install = ['ai@6.0.324', 'ai7@npm:ai@7.0.173', 'zod@4'];
  beforeAll(() => dev.open({ scripts: ['aisdk.mjs', 'check.mjs'], install }), 300_000);
  afterAll(() => dev.close(), 60_000);

  it('say, decide, come back, are refused and stop', async () => {
    const stdout = await dev.script('aisdk.mjs');
    expect(stdout).toMatch(/^36 passed, 0 failed$/m);
  });
});
