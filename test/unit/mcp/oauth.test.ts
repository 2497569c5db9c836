import { guarded, issuer } from '../../support/mcp/token-issuer';
import { ToolServerBed, textOf } from '../../support/mcp/tool-server-bed';

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
