import { guarded, issuer } from '../../support/mcp/token-issuer';
import { ToolServerBed, served, textOf } from '../../support/mcp/tool-server-bed';

it('gives the secret only to the expected issuer, and gets a new token when the server refuses the old one', async () => {
  const [ours, thief] = await Promise.all([issuer(), issuer()]);
  let named = ours;
  const valid = new Set(['token-1']);
  const server = await guarded(() => named.url, valid);
  const oauth = { clientId: 'desk', clientSecret: 'secret', expectedIssuer: ours.url };
  const bed = new ToolServerBed({ crm: { url: server.url, oauth } });
  const manifest = await bed.prepared('crm_look');
  expect(textOf(await bed.call(manifest, 'crm_look'))).toBe('seen');
  valid.clear();
  valid.add('token-2');
  expect(textOf(await bed.call(manifest, 'crm_look'))).toBe('seen');
  expect(ours.secrets).toEqual(['desk:secret', 'desk:secret']);
  named = thief;
  valid.clear();
  const later = new ToolServerBed({ crm: { url: server.url, oauth } });
  await expect(later.prepared('crm_look')).rejects.toMatchObject({ code: 'mcp-unreachable' });
  expect(thief.secrets).toEqual([]);
  await Promise.all([bed, later, server, ours, thief].map((one) => one.close()));
});

it.each(['metadata', 'issuer'])('asks no other place that the server names as its %s', async (what) => {
  const asked: string[] = [];
  const other = await served(async ({ url }) => {
    asked.push(url);
    return new Response('', { status: 404 });
  });
  const server = await guarded(() => other.url, new Set(), what === 'metadata' ? other.url : undefined);
  const bed = new ToolServerBed({
    crm: { url: server.url, oauth: { clientId: 'a', clientSecret: 'b', expectedIssuer: 'https://good.example' } },
  });
  const { origin } = new URL(other.url);
  const message = `OAuth leads to ${origin}. The worker asks only ${new URL(server.url).origin} and https://good.example.`;
  await expect(bed.prepared('crm_look')).rejects.toMatchObject({
    code: 'mcp-unreachable',
    message: expect.stringContaining(message) as string,
  });
  expect(asked).toEqual([]);
  await Promise.all([bed, server, other].map((one) => one.close()));
});
