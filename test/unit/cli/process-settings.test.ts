import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessFlags, ProcessSettings } from '../../../cli/processes/process-settings';
import { readSettings } from '../../../cli/processes/process-settings';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-settings-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const files = {
  'holdfast.config.js': `module.exports = { agents: './agents.js' };`,
  'agents.js': `const { defineAgent } = require('holdfast/workflow');
exports.helper = defineAgent({ name: 'helper', description: '', instructions: '', model: 'openai/gpt-5', tools: [] });`,
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);

const settings = (flags: ProcessFlags, environment: Readonly<Record<string, string>> = {}): Promise<ProcessSettings> =>
  readSettings({ config: join(folder, 'holdfast.config.js'), ...flags }, environment);

describe('how much a process says', () => {
  it.each<readonly [string, ProcessFlags, Readonly<Record<string, string>>, string, string]>([
    ['nothing is given', {}, {}, 'info', 'text'],
    ['--quiet', { quiet: true }, {}, 'warn', 'text'],
    ['--verbose', { verbose: true }, {}, 'debug', 'text'],
    ['--log json', { log: 'json' }, {}, 'info', 'json'],
    [
      'a flag wins over the environment',
      { quiet: true, log: 'text' },
      { HOLDFAST_LOG_LEVEL: 'trace', HOLDFAST_LOG_FORMAT: 'json' },
      'warn',
      'text',
    ],
    ['the environment says silent', {}, { HOLDFAST_LOG_LEVEL: 'silent' }, 'silent', 'text'],
  ])('%s', async (_, flags, environment, level, format) => {
    const { configuration } = await settings(flags, environment);
    expect(configuration).toMatchObject({ logLevel: level, logFormat: format });
  });

  it.each<readonly [string, ProcessFlags, string]>([
    ['both', { quiet: true, verbose: true }, '--quiet and --verbose are both given. Give one of them.'],
    ['a format that there is not', { log: 'xml' }, `--log is 'xml'. It must be text or json.`],
  ])('refuses %s', async (_, flags, message) => {
    await expect(settings(flags)).rejects.toMatchObject({ code: 'command-invalid', message });
  });
});
