import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { keyedProviderTable } from '../../../activities/models/providers/keyed';
import { seats } from '../../../activities/limits/gate';
import { defaultModelFacts } from '../../../activities/parts';
import { conversationDefaults } from '../../../contract/conversations';
import { errorTable } from '../../../contract/errors';
import { clusterFlags } from '../../../host/server/server-flags';
import { limits } from '../../../contract/limits';
import { configurationTable, type ConfigurationVariable } from '../../../host/configuration';
import { retentionDays } from '../../../host/server/namespace-setup';
import { docPages } from '../../support/doc-pages';
import { anchorOf, headingsOf, withoutCode } from '../../support/markdown';

const root = resolve(__dirname, '..', '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const codeFolders = readdirSync(root, { withFileTypes: true })
  .filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !['dist', 'docs', 'node_modules', 'coverage'].includes(entry.name),
  )
  .map(({ name }) => name);

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...docPages,
  ...codeFolders.map((folder) => `${folder}/README.md`).filter((path) => existsSync(join(root, path))),
];

function rowsOf(markdown: string): readonly (readonly string[])[] {
  return markdown
    .split('\n')
    .filter((line) => /^\| /.test(line))
    .map((line) => line.split('|').slice(1, -1).map(plain));
}

/** Prettier escapes marks of Markdown; code keeps its text. */
function plain(text: string): string {
  return text.replace(/[`\\]/g, '').trim();
}

const byFirst = (rows: readonly (readonly string[])[]): ReadonlyMap<string, readonly string[]> =>
  new Map(rows.map((cells) => [cells[0] ?? '', cells.slice(1)]));

function sectionOf(markdown: string, heading: string): string {
  const [, after = ''] = markdown.split(new RegExp(`^## ${heading}$`, 'm'));
  return after.split(/^## /m)[0] ?? '';
}

describe('docs/reference/errors.md', () => {
  const rows = rowsOf(read('docs/reference/errors.md')).filter(([first]) => first !== 'Code' && !/^-+$/.test(first ?? ''));

  it('has exactly the codes of the table, each once', () => {
    expect(rows.map(([code]) => code).sort()).toEqual(Object.keys(errorTable).sort());
  });

  it('says for each what the table says', () => {
    const said = byFirst(rows);
    for (const [code, { status, fix }] of Object.entries(errorTable)) {
      const [http, meaning, change] = said.get(code) ?? [];
      expect({ code, http, change }).toEqual({ code, http: String(status), change: plain(fix) });
      expect(meaning).toMatch(/\.$/);
    }
  });
});

describe('docs/reference/configuration.md', () => {
  const markdown = read('docs/reference/configuration.md');

  it('has exactly the variables of the table, with defaults and meanings', () => {
    const rows = rowsOf(sectionOf(markdown, 'Environment')).filter(([first]) => /^[A-Z]/.test(first ?? '') && first !== 'Variable');
    expect(rows).toEqual(
      Object.entries<ConfigurationVariable>(configurationTable).map(([name, { default: value = 'none', meaning }]) => [
        name,
        value,
        plain(meaning),
      ]),
    );
  });

  it('has every provider with its key, address and package', () => {
    const rows = rowsOf(sectionOf(markdown, 'Model providers')).slice(2);
    expect(rows).toEqual(
      Object.entries(keyedProviderTable).map(([name, provider]) => [
        `${name}/…`,
        provider.keyVariable,
        provider.urlVariable,
        provider.package,
      ]),
    );
  });
});

it('docs/operations/README.md has the settings for a cluster that the tests play', () => {
  const rows = rowsOf(sectionOf(read('docs/operations/README.md'), 'A cluster or Temporal Cloud')).filter(([name]) =>
    (name ?? '').includes('.'),
  );
  expect(rows.map(([name, value]) => [name, value])).toEqual(Object.entries(clusterFlags).map(([name, value]) => [name, String(value)]));
});

const size = (bytes: number): string => (bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MB` : `${bytes / 1024} KB`);
const count = (number: number): string => number.toLocaleString('en-US');

it('docs/reference/limits.md states the limits of the code, and none besides but what a server says and what was measured', () => {
  const said = byFirst(rowsOf(sectionOf(read('docs/reference/limits.md'), 'Limits')));
  const expected: Record<string, string> = {
    'Input of a run': size(limits.runInput),
    'Result of a tool': `${size(limits.toolResult)}, with resultLimit up to ${size(limits.payload)}`,
    'Progress of a tool': `${size(limits.progress)}; more is not shown`,
    'Description of a tool of an MCP server': size(limits.mcpDescription),
    'All tools, schemas and policies of a run': size(limits.manifest),
    'Input or result of a step': size(limits.payload),
    'Content of an interrupt; data of an event': size(limits.interrupt),
    'Instructions of an agent; a message of a hook': size(limits.message),
    'An answer': size(limits.runInput),
    'A message to a conversation': size(limits.runInput),
    'Waiting messages of a conversation': `${count(limits.queuedMessages)} or ${size(limits.queuedTogether)}`,
    'Messages of one client on the way to a conversation': `${count(limits.queuedMessages)} or ${size(limits.sentTogether)}`,
    'Messages at the beginning of a turn': `${conversationDefaults.window} by default, at most ${size(limits.window)}`,
    'Waiting for a busy provider (models.patience)': `${(defaultModelFacts.patienceMs ?? 0) / 3_600_000} h by default`,
    'Calls waiting in place for a limited model or tool': `${seats.most} on each worker`,
    'All tags of a run': size(limits.tags),
    'Author of a run (by)': `${limits.starter} characters`,
    'Proof of a name (proof)': `${limits.proof} characters; a longer proof is dropped`,
    'Options of a run for one tool': size(limits.toolOptions),
    'Steps scheduled by one workflow task': `${size(limits.activation)}; more in the next task`,
    'State at a continue-as-new, without storage': size(limits.inlineSnapshot),
    'State that goes to external storage, if any': `from ${size(limits.externalSnapshot)}`,
    'Events before a continue-as-new': count(limits.eventsPerRun),
    'History before a continue-as-new': size(limits.historyBytes),
    'Signals before a continue-as-new': count(limits.signalsPerRun),
    'Updates before a continue-as-new': count(limits.updatesPerRun),
    'Model calls of an agent (maxIterations)': `${limits.maxIterations} by default`,
    'Tool calls of a message': count(limits.toolCallsPerMessage),
    'Tools of a message': `${limits.clientTools} or ${size(limits.clientToolBytes)}`,
    'Runs of one backfill of a schedule': count(limits.backfill),
    'Receivers of push notifications': count(limits.pushConfigs),
    'Size of a push notification': `${size(limits.pushBody)}; a larger state has no message`,
    'Retries of a push notification': `for ${limits.pushPatienceMs / 3_600_000} h, each try ${limits.pushTryMs / 1000} s`,
    'Body of a webhook': `${size(limits.delivery)} by default`,
    'Known deliveries of a webhook': `${limits.deliveryMs / 86_400_000} days`,
    'Lines of a batch; size of a line': `${count(limits.batchLines)} lines or ${limits.batchBytes / 1024 ** 3} GB; ${size(2 * limits.runInput)}`,
    'Runs of a batch that are at work at once': `20 by default, at most ${limits.batchConcurrency}`,
    'Batches that a service works on at once': count(limits.batches),
    'Lines of a batch in the store': `${limits.batchKeptMs / 86_400_000} days`,
    'Nested agents': count(limits.agentDepth),
    'Events of an agent in a row, without a call, timer or answer': count(limits.eventsInARow),
    'Agents in a row, without a call, timer or answer': count(limits.emptyRuns),
    'Hand-overs in a team': count(limits.transfers),
    'Open interrupts': `${limits.openInterrupts} or ${size(limits.interruptsTogether)}`,
    'Finished runs and ids': `${retentionDays} days on the embedded server, elsewhere the namespace's retention`,
  };
  const ofOthers = ['Subject', 'Task queues with workers in a namespace', 'Memory of the service for a reader'];
  const rows = [...said].filter(([what]) => !ofOthers.includes(what) && !/^-+$/.test(what));
  expect(Object.fromEntries(rows.map(([what, cells]) => [what, cells[0]]))).toEqual(expected);
});

describe('the README', () => {
  const markdown = read('README.md');
  it('has fewer than 750 words', () => {
    expect(markdown.split(/\s+/).length).toBeLessThan(750);
  });
});

it('the guide to a project of your own names the files of its example in their first lines', () => {
  const files = [...read('docs/guides/own-project.md').matchAll(/^```ts\n\/\/ (\S+)\n/gm)].map(([, file]) => file);
  expect(files).toEqual(['tools.ts', 'agents.ts', 'holdfast.config.ts', 'client.ts']);
});

describe('every document', () => {
  it('that belongs to a top-level folder is there and has at most 30 lines', () => {
    const lines = codeFolders.map((folder) => ({
      folder,
      lines: existsSync(join(root, folder, 'README.md')) ? read(`${folder}/README.md`).trimEnd().split('\n').length : 0,
    }));
    expect(lines.filter(({ lines }) => lines === 0 || lines > 30)).toEqual([]);
  });

  it.each(documents)('%s links to files and headings that there are', (document) => {
    const links = [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target ?? '')
      .filter((target) => !/^(https?|mailto):/.test(target));
    expect(links.filter((link) => !leadsSomewhere(document, link))).toEqual([]);
  });

  it('of the package links to what is in the package, too; only the front page of the repository links to the rest of it', () => {
    const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };
    const isPacked = (path: string): boolean =>
      ['README.md', 'LICENSE', 'package.json'].includes(path) ||
      (files.some((file) => path === file || path.startsWith(`${file}/`)) && !files.includes(`!${path}`));
    const dead = documents
      .filter((document) => isPacked(document) && document !== 'README.md')
      .flatMap((document) =>
        [...withoutCode(read(document)).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
          .map(([, target]) => target ?? '')
          .filter((target) => !/^(https?|mailto):/.test(target) && !isPacked(join(dirname(document), target)))
          .map((target) => `${document}: ${target}`),
      );
    expect(dead).toEqual([]);
  });

  it.each(documents)('%s names no path of a machine', (document) => {
    expect(read(document).match(/(?<![\w.~)])\/(root|home|Users|work|tmp|var|opt|mnt)\/\S*/g) ?? []).toEqual([]);
  });
});

function leadsSomewhere(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(root, document) : join(root, dirname(document), path);
  if (!existsSync(target)) return false;
  return anchor === undefined || headingsOf(readFileSync(target, 'utf8')).some(({ text }) => anchorOf(text) === anchor);
}
