import { ServiceClient } from '../../../client/http/index';

const sent: { readonly path: string; readonly authorization: string | null }[] = [];

function clientOf(key: string | (() => string | Promise<string>)): ServiceClient {
  return new ServiceClient('http://service', {
    key,
    fetch: (input, init) => {
      const { pathname } = new URL(input as string);
      sent.push({ path: pathname, authorization: new Headers(init?.headers).get('authorization') });
      return Promise.resolve(pathname.endsWith('/events') ? new Response(null, { status: 204 }) : Response.json({ keys: [], id: 'k' }));
    },
  });
}

beforeEach(() => sent.splice(0));

it('a client sends its key with each request and with streams of events', async () => {
  const client = clientOf('hf_4f7Qa2Zk_secret_1');
  await client.keys();
  for await (const event of client.events('r')) expect(event).toBeUndefined();
  expect(sent).toEqual(['/keys', '/runs/r/events'].map((path) => ({ path, authorization: 'Bearer hf_4f7Qa2Zk_secret_1' })));
});

it('a client asks a function for the token of each request', async () => {
  let count = 0;
  const client = clientOf(() => Promise.resolve(`token-${++count}`));
  await client.revokeKey('4f7Qa2Zk');
  await client.rotateKey('4f7Qa2Zk');
  expect(sent.map(({ path, authorization }) => [path, authorization])).toEqual([
    ['/keys/4f7Qa2Zk', 'Bearer token-1'],
    ['/keys/4f7Qa2Zk/rotate', 'Bearer token-2'],
  ]);
});

it.each(['', 'top\nsecret', 'schlüssel'])('a client refuses the key %j before a request, and does not show the key', async (key) => {
  await expect(clientOf(key).me()).rejects.toThrow(
    expect.objectContaining({ code: 'identity-invalid', message: 'The key is empty, or has characters that no key has.' }),
  );
  expect(sent).toEqual([]);
});

it.each(['', '..'])('a client asks for no key with the id %j', async (id) => {
  await expect(clientOf('k').revokeKey(id)).rejects.toMatchObject({ code: 'key-unknown' });
  await expect(clientOf('k').makeLink('r', id, { for: 'carl' })).rejects.toMatchObject({ code: 'interrupt-unknown' });
  expect(sent).toEqual([]);
});
