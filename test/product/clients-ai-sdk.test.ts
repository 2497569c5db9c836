import { eventually } from '../support/eventually';
import { PageChat } from '../support/ai-sdk-page';
import { DevWithClients } from '../support/dev-with-clients';

const dev = new DevWithClients('ai-sdk');

/** The clients of AI SDK 6 and 7 as their users have them, against `holdfast dev`. */
describe('the clients of AI SDK', () => {
  // 7 asks for Node 22, and runs on 20.
  const install = ['ai@6.0.324', 'ai7@npm:ai@7.0.173', 'zod@4'];
  beforeAll(() => dev.open({ scripts: ['aisdk.mjs', 'check.mjs'], install }), 300_000);
  afterAll(() => dev.close(), 60_000);

  it('say, decide, come back, are refused and stop', async () => {
    const stdout = await dev.script('aisdk.mjs');
    expect(stdout).toMatch(/^36 passed, 0 failed$/m);
  });

  it('come back to a turn whose service was killed while it streamed', async () => {
    const page = new PageChat(`${dev.url}/aisdk/support`);
    const broken = page.sendMessage({ text: 'Where is my order 42?' });
    await page.until(({ text, status }) => text !== '' || status === 'error');
    await dev.end('SIGKILL');
    await broken;
    await dev.serve();
    const whole = await eventually(async () => {
      const later = new PageChat(`${dev.url}/aisdk/support`, { id: page.id, messages: page.messages.slice(0, 1) });
      await later.resumeStream();
      if (later.text !== '') return later.text;
      // It is over already: the same message shows the turn that took it.
      await later.regenerate().catch(() => undefined);
      return later.text === '' ? undefined : later.text;
    });
    expect(whole).toContain('42');
  });
});
