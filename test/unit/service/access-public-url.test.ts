import { Hono } from 'hono';
import { mailedUrl, publicUrl } from '../../../service/http/public-url';
import { ProjectConfigSchema } from '../../../service/project/project-config';
import { appOn } from '../../support/service-app';
import { errorSaying } from '../../support/failures';

type Parts = Parameters<typeof publicUrl>[0];

async function addressOf(address: typeof publicUrl, parts: Parts, headers: Record<string, string> = {}): Promise<string> {
  let found = '';
  const app = new Hono().get('/runs', (context) => {
    found = address(parts, context);
    return context.text('');
  });
  app.onError((error) => {
    throw error;
  });
  await app.request('http://desk.test:80/runs?x=1', { headers });
  return found;
}

describe('the address of the service', () => {
  it.each<[Parts, Record<string, string>, string]>([
    [{}, {}, 'http://desk.test'],
    [{}, { 'x-forwarded-proto': 'https, http' }, 'https://desk.test'],
    [{ publicUrl: 'https://desk.example.com' }, { 'x-forwarded-proto': 'http' }, 'https://desk.example.com'],
    [{ publicUrl: 'https://example.com/desk/' }, {}, 'https://example.com/desk'],
  ])('with %j and %j is as expected: %s', async (parts, headers, address) => {
    expect(await addressOf(publicUrl, parts, headers)).toBe(address);
  });

  it('is not taken from the request for mails, except on loopback, where names are checked', async () => {
    await expect(addressOf(mailedUrl, {})).rejects.toEqual(errorSaying('config-invalid', 'http.publicUrl'));
    expect(await addressOf(mailedUrl, { hosts: [] })).toBe('http://desk.test');
    expect(await addressOf(mailedUrl, { publicUrl: 'https://desk.example.com' })).toBe('https://desk.example.com');
  });

  it('is in the card of an agent, also where a proxy serves the service below a path', async () => {
    const agents = [{ name: 'desk', description: 'A desk.', takesJob: false }];
    const urlOf = async (parts: Parts): Promise<unknown> => {
      const card = await appOn({}, { agents, ...parts }).request('http://10.0.0.1/a2a/desk/.well-known/agent-card.json');
      return ((await card.json()) as { supportedInterfaces: readonly { url: string }[] }).supportedInterfaces[0]?.url;
    };
    expect(await urlOf({})).toBe('http://10.0.0.1/a2a/desk');
    expect(await urlOf({ publicUrl: 'https://example.com/holdfast' })).toBe('https://example.com/holdfast/a2a/desk');
  });

  it.each<[string, boolean]>([
    ['https://desk.example.com', true],
    ['https://example.com/desk', true],
    ['http://127.0.0.1:4747', true],
    ['http://[::1]:4747', true],
    ['http://localhost', true],
    ['http://desk.example.com', false],
    ['http://127.0.0.1.example.com', false],
    ['https://ada:geheim@desk.example.com', false],
    ['https://desk.example.com/?a=b', false],
    ['desk.example.com', false],
  ])('may be %s in the configuration: %s', (url, isTaken) => {
    const { success, error } = ProjectConfigSchema.safeParse({ agents: './agents.ts', http: { publicUrl: url } });
    expect(success).toBe(isTaken);
    expect(error?.message ?? '').not.toContain('geheim');
  });
});
