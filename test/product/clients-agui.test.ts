import { DevWithClients } from '../support/dev-with-clients';

const dev = new DevWithClients('agui');

describe('the clients of AG-UI', () => {
  beforeAll(() => dev.open({ scripts: ['agui.mjs', 'agui-kill.mjs', 'check.mjs', 'package.json'], install: [] }), 300_000);
  afterAll(() => dev.close(), 60_000);

  it('run, stream, interrupt, resume, reload, leave and come back', async () => {
    const stdout = await dev.script('agui.mjs');
    expect(stdout).not.toMatch(/^FAIL/m);
    expect(stdout).toMatch(/^34 passed, 0 failed$/m);
  });

  it('come back to a thread whose service was killed in the middle of a stream', async () => {
    const said = await dev.killedBy('agui-kill.mjs');
    expect(said).not.toMatch(/^FAIL/m);
    expect(said).toMatch(/^5 passed, 0 failed$/m);
  });
});
