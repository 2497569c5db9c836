import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { mayKeepScripts } from '../../cli/kept-scripts';
import { temporaryDirectory } from './temporary-directory';

jest.setTimeout(60_000);

const run = promisify(execFile);
const built = resolve(__dirname, '..', '..', 'dist', 'cli', 'kept-scripts.js');

/** A program with packages, and what it says in a process that keeps scripts. */
class Bed {
  readonly directory = temporaryDirectory();
  readonly kept = join(this.directory, 'kept');

  constructor() {
    this.write('node_modules/plain/index.js', 'const { base } = require("./base"); exports.answer = () => base + 1;');
    this.write('node_modules/plain/base.js', 'exports.base = 41; exports.where = () => new Error("here").stack.split("\\n")[1];');
    this.write('main.js', `console.log(JSON.stringify(require('plain').answer()));`);
  }

  write(name: string, text: string): void {
    const path = join(this.directory, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  }

  async says(): Promise<unknown> {
    const code = `require(${JSON.stringify(built)}).keepScripts(${JSON.stringify(this.kept)}); require('./main.js');`;
    this.write('start.cjs', code);
    const { stdout, stderr } = await run(process.execPath, ['start.cjs'], { cwd: this.directory, env: { PATH: process.env['PATH'] } });
    expect(stderr).toBe('');
    return JSON.parse(stdout) as unknown;
  }

  /** The file of what is kept. */
  get file(): string {
    const [name = 'none', ...more] = readdirSync(this.kept);
    expect(more).toEqual([]);
    return join(this.kept, name);
  }

  /** Changes with each writing. */
  get written(): number {
    return statSync(this.file).ino;
  }
}

describe('scripts that are kept', () => {
  it('are written once, for their owner alone, and taken from then on', async () => {
    const bed = new Bed();
    expect(await bed.says()).toBe(42);
    const { written } = bed;
    expect(statSync(bed.file).mode & 0o077).toBe(0);
    expect(await bed.says()).toBe(42);
    expect(bed.written).toBe(written);
  });

  it('are compiled again where a file has changed, also to a text of the same length', async () => {
    const bed = new Bed();
    await bed.says();
    const { written } = bed;
    bed.write('node_modules/plain/base.js', readFileSync(join(bed.directory, 'node_modules/plain/base.js'), 'utf8').replace('41', '51'));
    expect(await bed.says()).toBe(52);
    expect(bed.written).not.toBe(written);
  });

  it('are not believed when a byte of them is not what was written', async () => {
    const bed = new Bed();
    await bed.says();
    const bytes = readFileSync(bed.file);
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 255;
    writeFileSync(bed.file, bytes);
    expect(await bed.says()).toBe(42);
    expect(readFileSync(bed.file).equals(bytes)).toBe(false);
  });

  it('are not kept where they cannot be written, and nothing else happens', async () => {
    const bed = new Bed();
    bed.write('kept', 'a file, so that nobody can even look below');
    expect(await bed.says()).toBe(42);
  });

  it('have the places of their files in stacks', async () => {
    const bed = new Bed();
    bed.write('main.js', `console.log(JSON.stringify(require('plain/base').where()));`);
    const first = await bed.says();
    expect(first).toMatch(/node_modules\/plain\/base\.js:1:42\)$/);
    expect(await bed.says()).toBe(first);
  });

  it('leave to Node what is no plain CommonJS module', async () => {
    const bed = new Bed();
    bed.write('node_modules/later/index.js', 'exports.load = () => import("plain");');
    bed.write('node_modules/data/index.json', '{"value": 1}');
    bed.write('node_modules/wrong/index.js', 'const = 1;');
    bed.write('node_modules/esm/package.json', '{"type": "module", "main": "index.js"}');
    bed.write('node_modules/esm/index.js', 'globalThis.strict = (function () { return this === undefined; })();');
    bed.write(
      'main.js',
      `let wrong; try { require('wrong'); } catch (error) { wrong = error.name; }
       const names = Object.keys(require).sort();
       require('later').load().then(async ({ default: plain }) => { await import('esm'); console.log(JSON.stringify([
         plain.answer(), require('data/index.json').value, wrong, globalThis.strict, names, typeof require('plain').answer])); });`,
    );
    for (let start = 0; start < 2; start++)
      expect(await bed.says()).toEqual([42, 1, 'SyntaxError', true, ['cache', 'extensions', 'main', 'resolve'], 'function']);
  });

  it('give a module the `require` that Node gives', async () => {
    const bed = new Bed();
    bed.write(
      'node_modules/plain/asks.js',
      'exports.said = [Object.keys(require).sort(), require.resolve("./base") in require.cache, require.main === module, typeof require.resolve.paths, this === exports, module.paths.length > 0];',
    );
    bed.write('main.js', `require('plain'); console.log(JSON.stringify(require('plain/asks').said));`);
    for (let start = 0; start < 2; start++)
      expect(await bed.says()).toEqual([['cache', 'extensions', 'main', 'resolve'], true, false, 'function', true, true]);
  });

  it('are kept only where nothing asks Node to look into modules', () => {
    expect(mayKeepScripts({}, [])).toBe(true);
    expect(mayKeepScripts({}, ['--inspect'])).toBe(false);
    for (const name of ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'NODE_DISABLE_COMPILE_CACHE'])
      expect(mayKeepScripts({ [name]: 'some' }, [])).toBe(false);
  });
});
