import { DevWithClients } from '../support/dev-with-clients';

const dev = new DevWithClients('responses');

describe('the client of OpenAI', () => {
  beforeAll(() => dev.open({ scripts: ['openai-responses.mjs', 'check.mjs'], linked: ['openai'] }), 300_000);
  afterAll(() => dev.close(), 60_000);

  it('creates, streams, approves, waits in the background, leaves and comes back', async () => {
    const stdout = await dev.script('openai-responses.mjs');
    expect(stdout).not.toMatch(/^FAIL/m);
    expect(stdout).toMatch(/^30 passed, 0 failed$/m);
  });
});
