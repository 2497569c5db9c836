import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listMcp, writeMcpTypes } from '../../cli/commands/mcp-commands';
import { checkMcp } from '../../cli/doctor/mcp';
import { loadProject } from '../../service/project/load-project';
import { askedAgent } from '../../service/http/asked-agent';
import { recordedTerminal } from '../support/recorded-terminal';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-commands-')));
afterAll(() => rmSync(folder, { recursive: true }));
const shop = {
  command: process.execPath,
  args: [join(__dirname, '../support/mcp/shop.mjs'), folder],
  effects: { pay: 'once', cont: 'none' },
};
const off = { url: 'http://127.0.0.1:9/mcp' };

function project(name: string, tool: string, mcp: object): string {
  writeFileSync(
    join(folder, `${name}-agents.ts`),
    `import { defineAgent } from 'holdfast/workflow';
export const seller = defineAgent({ name: 'seller', description: 'Sells.', instructions: '', model: 'default', tools: ['${tool}'] });`,
  );
  const file = join(folder, `${name}.config.ts`);
  writeFileSync(file, `export default { agents: './${name}-agents.ts', mcp: ${JSON.stringify(mcp)} };`);
  return file;
}

/** Processes of servers are over when their commands are. */
const processes = (): readonly string[] =>
  execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(folder));

it('loads agents that name tools of MCP servers, without a connection, and refuses names of other servers', async () => {
  const { agents, facts } = await loadProject(project('fine', 'off_pay', { off: { ...off, effects: { pay: 'once' } } }));
  expect(agents).toMatchObject([{ name: 'seller', tools: ['off_pay'], mcp: ['off'] }]);
  expect(facts.tools).toEqual([{ name: 'off_pay', description: 'A tool of the MCP server off.', kind: 'mcp', effect: 'once' }]);
  expect(askedAgent({ agents }, 'seller', { tools: ['off_find'] }).name).toBe('seller');
  expect(() => askedAgent({ agents }, 'seller', { tools: ['of_find'] })).toThrow('they name the tool "of_find"');
  await expect(loadProject(project('typo', 'of_pay', { off }))).rejects.toMatchObject({ code: 'tool-unknown' });
  await expect(loadProject(project('wrong', 'off_pay', { off: {} }))).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringContaining('`mcp.off` needs a command or a url, and not both') as string,
  });
  await expect(loadProject(project('misspelt', 'off_pay', { off: { comand: 'node' } }))).rejects.toThrow(
    '`mcp.off` has no field `comand`. It needs a command or a url, and not both',
  );
});

it('lists the tools of servers with their effects, and servers without an answer', async () => {
  const config = project('listed', 'shop_pya', { shop, off });
  const terminal = recordedTerminal({ live: false });
  expect(await listMcp(terminal, { config })).toBe(1);
  expect(processes()).toEqual([]);
  expect(terminal.written()).toMatch(
    /TOOL +EFFECT +DESCRIPTION\nshop_pay +once \(configuration\) +Pays\.\nshop_count +none \(no entry, no hint\)/,
  );
  const findings = await checkMcp(await loadProject(config));
  expect(processes()).toEqual([]);
  expect(findings.map(({ status, message }) => `${status} ${message}`)).toEqual([
    'ok The MCP server "shop" offers 4 tools by protocol 2025-11-25.',
    'warning The MCP server "shop": lost calls of count, hang, sell are made again, as no effect is known.',
    'warning The MCP server "shop": `mcp.shop.effects` names cont, which the server does not offer. Did you mean "count"?',
    'problem Agents name shop_pya, which the MCP server "shop" does not offer. Did you mean "shop_pay"?',
    expect.stringContaining('problem The MCP server "off" cannot be reached'),
  ]);
  const bad = findings.slice(1);
  expect(bad.slice(0, 3).map(({ code, fix }) => `${code} ${fix}`)).toEqual([
    'config-invalid Add `count`, `hang`, `sell` to `mcp.shop.effects`.',
    'config-invalid Correct or remove `cont` in `mcp.shop.effects`.',
    'tool-unknown Correct the names in `tools` of the agents.',
  ]);
  for (const { code, message, fix } of bad) {
    expect(terminal.written()).toContain(`${code}: ${message}\n`);
    expect(terminal.written()).toContain(`fix: ${fix}\n`);
  }
  const printed = recordedTerminal({ live: false });
  expect(await listMcp(printed, { config, json: true })).toBe(1);
  expect(JSON.parse(printed.written())).toMatchObject({
    shop: { tools: [{ name: 'shop_pay' }, {}, {}, {}], findings: bad.slice(0, 3) },
    off: { code: 'mcp-unreachable', problem: bad[3]?.message },
  });
});

it('writes types', async () => {
  const file = join(folder, 'tools.ts');
  const terminal = recordedTerminal({ live: false });
  expect(await writeMcpTypes(terminal, file, { config: project('typed', 'shop_pay', { shop }) })).toBe(0);
  expect(terminal.written()).toBe(`Wrote 4 tools to ${file}.\n`);
  const config = join(folder, 'typed.config.ts');
  const nowhere = join(folder, 'none', 'tools.ts');
  await expect(writeMcpTypes(terminal, nowhere, { config })).rejects.toMatchObject({
    code: 'command-invalid',
    message: expect.stringContaining(`${nowhere} cannot be written: ENOENT`) as string,
  });
  await expect(writeMcpTypes(terminal, folder, { config })).rejects.toMatchObject({ code: 'config-invalid' });
  const keyless = project('keyless', 'crm_pay', {});
  writeFileSync(
    keyless,
    `export default { agents: './keyless-agents.ts', mcp: { crm: { url: 'http://127.0.0.1:9/mcp', headers: { authorization: undefined } } } };`,
  );
  await expect(writeMcpTypes(terminal, file, { config: keyless })).rejects.toMatchObject({ code: 'config-invalid' });
  expect(readFileSync(file, 'utf8')).toContain('shop_pay: { execute(input: { readonly crash?: string }): unknown };');
});

it('asks as the tenant, and a server that is not for the tenant is a warning', async () => {
  const config = project('tenants', 'crm_pay', {});
  const forTenant = `(tenant) => (tenant === 'acme' ? { headers: {} } : undefined)`;
  writeFileSync(
    config,
    `export default { agents: './tenants-agents.ts', mcp: { crm: { url: 'http://127.0.0.1:9/mcp', forTenant: ${forTenant} } } };`,
  );
  const said = async (tenant: object): Promise<string> => {
    const terminal = recordedTerminal({ live: false });
    expect(await listMcp(terminal, { config, ...tenant })).toBe(1);
    return terminal.written();
  };
  expect(await said({ tenant: 'acme' })).toContain('mcp-unreachable');
  expect(await said({})).toContain('mcp-forbidden: `mcp.crm.forTenant` gives nothing for the tenant "default".');
  expect(await checkMcp(await loadProject(config))).toMatchObject([{ status: 'warning', code: 'mcp-forbidden' }]);
});
