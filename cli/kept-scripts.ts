import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { keepIfPossible, privateDirectory } from '../host/private-files';

/** What was compiled of a file whose text has this sum. */
interface Compiled {
  readonly sum: number;
  readonly data: Buffer;
}

interface Run {
  readonly sum: number;
  readonly script: Script;
}

type Loader = (module: NodeJS.Module, file: string) => void;

/** More are those of projects that are gone. */
const mostFiles = 6_000;
const wrapper = '(function (exports, require, module, __filename, __dirname) { ';

/**
 * Keeps what Node compiles of this package and of packages, on a Node that does not keep it by itself: `require.extensions` is where Node documents that
 * a file becomes a module. A file that is anything but a plain CommonJS module is loaded by Node as ever. Returns what ends it.
 */
export function keepScripts(folder: string): () => void {
  const file = join(folder, `scripts-${cachedDataVersionTag().toString(16)}-${nameOf(__dirname)}.bin`);
  const known = readKept(file);
  const ran = new Map<string, Run>();
  const extensions = require.extensions as Record<string, Loader | undefined>;
  const usual = extensions['.js'];
  if (usual === undefined) return () => undefined;
  const load: Loader = (module, path) => {
    const text = isOfPackage(path) ? readFileSync(path, 'utf8') : undefined;
    const sum = text === undefined ? 0 : crc32(text);
    const found = known.get(path);
    const compiled = found?.sum === sum ? found : undefined;
    const script =
      text === undefined || (compiled === undefined && !isPlain(path, text)) ? undefined : scriptOf(path, text, compiled?.data);
    if (script === undefined) return usual(module, path);
    if (compiled === undefined || script.cachedDataRejected === true) ran.set(path, { sum, script });
    const run = script.runInThisContext() as (...given: unknown[]) => void;
    run.call(module.exports, module.exports, requireOf(module, path), module, path, dirname(path));
  };
  extensions['.js'] = load;
  const onExit = (): void => {
    if (ran.size > 0) writeKept(file, known, ran);
  };
  process.on('exit', onExit);
  return () => {
    process.off('exit', onExit);
    if (extensions['.js'] === load) extensions['.js'] = usual;
  };
}

/** Where nothing asks Node to look into modules, such as a debugger, a measurement or a loader of the user's own. */
export function mayKeepScripts(environment: Readonly<Record<string, string | undefined>>, options: readonly string[]): boolean {
  const asked = environment['NODE_OPTIONS'] || environment['NODE_V8_COVERAGE'] || environment['NODE_DISABLE_COMPILE_CACHE'];
  return !asked && options.length === 0 && process.versions['pnp'] === undefined;
}

function isOfPackage(path: string): boolean {
  return path.includes(`${sep}node_modules${sep}`) || path.startsWith(join(__dirname, '..') + sep);
}

/** A CommonJS module that imports nothing later: a script that was compiled before cannot. */
function isPlain(path: string, text: string): boolean {
  if (text.startsWith('\uFEFF') || text.startsWith('#!') || /\bimport\s*[(.]/.test(text)) return false;
  return path.endsWith('.cjs') || (path.endsWith('.js') && typeOfPackage(dirname(path)) !== 'module');
}

const types = new Map<string, string | undefined>();

function typeOfPackage(folder: string): string | undefined {
  if (!types.has(folder)) types.set(folder, readType(folder));
  return types.get(folder);
}

function readType(folder: string): string | undefined {
  const file = join(folder, 'package.json');
  if (existsSync(file)) return String((JSON.parse(readFileSync(file, 'utf8')) as { readonly type?: unknown }).type);
  const parent = dirname(folder);
  return parent === folder ? undefined : typeOfPackage(parent);
}

/** Undefined for what is no script; Node then says why. */
function scriptOf(filename: string, text: string, cachedData: Buffer | undefined): Script | undefined {
  try {
    return new Script(`${wrapper}${text}\n})`, { filename, columnOffset: -wrapper.length, cachedData });
  } catch {
    return undefined;
  }
}

function requireOf(module: NodeJS.Module, path: string): NodeJS.Require {
  let own: NodeJS.Require | undefined;
  const load = (id: string): unknown => module.require(id) as unknown;
  const { cache, extensions, main } = require;
  return Object.defineProperty(Object.assign(load, { cache, extensions, main }), 'resolve', {
    get: () => (own ??= createRequire(path)).resolve,
    enumerable: true,
  }) as NodeJS.Require;
}

function nameOf(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 16);
}

const headBytes = 8;

/** Nothing, where nothing is kept or a byte of it is not what was written: V8 believes what it is given. */
function readKept(file: string): Map<string, Compiled> {
  const known = new Map<string, Compiled>();
  try {
    const bytes = readFileSync(file);
    if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) return known;
    let offset = headBytes + bytes.readUInt32LE(4);
    const index = JSON.parse(bytes.toString('utf8', headBytes, offset)) as readonly (readonly [string, number, number])[];
    for (const [path, sum, length] of index) {
      known.set(path, { sum, data: bytes.subarray(offset, offset + length) });
      offset += length;
    }
  } catch {
    known.clear();
  }
  return known;
}

/** Where it cannot be written, the next start compiles again. */
function writeKept(file: string, known: ReadonlyMap<string, Compiled>, ran: ReadonlyMap<string, Run>): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: privateDirectory });
  } catch {
    return;
  }
  const all = new Map(known.size + ran.size > mostFiles ? [] : known);
  for (const [path, { sum, script }] of ran) all.set(path, { sum, data: script.createCachedData() });
  const index = Buffer.from(JSON.stringify([...all].map(([path, { sum, data }]) => [path, sum, data.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  const content = Buffer.concat([length, index, ...[...all.values()].map(({ data }) => data)]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(content));
  keepIfPossible(file, Buffer.concat([sum, content]));
}
