import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { foundBy } from '../../../cli/doctor/finding';
import { placeInSource, toldFailure } from '../../../cli/processes/place-in-source';
import { reportError } from '../../../cli/report-error';
import { HoldfastError } from '../../../contract/errors';
import { FreshModules, loadModule } from '../../../service/project/load-module';
import { loadProject } from '../../../service/project/load-project';
import { recordedTerminal } from '../../support/recorded-terminal';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-place-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const folders = [join(base, 'plain'), join(base, 'Mëin Projekt (neu)'), join(base, `it's and/or`)];
for (const folder of folders) mkdirSync(folder, { recursive: true });

describe.each(folders)('in %s', (folder) => {
  const file = join(folder, 'tools.ts');
  const at = (place: string): string => `${relative(process.cwd(), file)}:${place}`;
  beforeAll(() => writeFileSync(file, 'const a = 1;\nconst b = ;\n'));

  it.each([
    ['a compiler', `Unexpected token  \n ${file}:2:11`, '2:11'],
    ['a bundler', `Syntax Error\n  ,-[${file}:2:11]`, '2:11'],
    ['a sentence', `A word and/or ${file}:2 in it`, '2'],
  ])('the place is found in the message of %s', (_, message, place) => {
    expect(placeInSource(new Error(message))).toEqual({ at: at(place), source: '2 | const b = ;' });
  });

  it.each([
    ['a path', file],
    ['a URL', pathToFileURL(file).href],
    ['a path as source maps have it', encodeURI(file)],
  ])('the place is found in a stack with %s, whose columns are of other code', (_, named) => {
    const error = Object.assign(new Error('no'), { stack: `Error: no\n    at run (${__filename}:1:2)\n    at async ${named}:2:7` });
    expect(placeInSource(new HoldfastError('config-invalid', 'It cannot be loaded.', { cause: error }))).toEqual({
      at: at('2'),
      source: '2 | const b = ;',
    });
  });

  it.each([
    ['a start', loadModule],
    ['a change', new FreshModules().load],
  ])('a syntax error behind the configuration has its line at %s, for people and for doctor', async (_, load) => {
    writeFileSync(join(folder, 'holdfast.config.ts'), `import { b } from './tools';\nexport default { agents: b };`);
    const error: unknown = await loadProject(undefined, folder, load).catch((thrown: unknown) => thrown);
    const reason = `${join(folder, 'holdfast.config.ts')} cannot be loaded: ParseError: Unexpected token`;
    const { reason: told, place } = toldFailure(error);
    expect(told).toMatch(/^.* cannot be loaded: ParseError: Unexpected token/);
    expect(told).toContain(reason);
    expect(place).toEqual({ at: expect.stringContaining(at('2:')) as string, source: '2 | const b = ;' });
    const terminal = recordedTerminal({ live: false });
    reportError(error, terminal);
    expect(terminal.written().split('\n').slice(0, 4)).toEqual([
      expect.stringContaining(`error config-invalid: ${reason}`),
      `error:   ${place?.at}`,
      'error:   2 | const b = ;',
      expect.stringMatching(/^error: fix: /),
    ]);
    expect(foundBy('configuration', error).message).toContain(`At ${place?.at}.`);
  });
});

it('a module that is not there is told without who asked for it', () => {
  expect(toldFailure(new Error(`Cannot find module './toolz'\nRequire stack:\n- /somewhere/tools.ts`))).toEqual({
    reason: `Cannot find module './toolz'`,
  });
});

it('what is no failure of a project is told as it is', () => {
  expect(toldFailure(new HoldfastError('run-unknown', 'There is no run "a".\nIt may be at http://localhost:4747.'))).toEqual({
    reason: 'There is no run "a".\nIt may be at http://localhost:4747.',
  });
});
