import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { folder, installPeers, versionsOfPeers } from './install';
import type { Extent } from './measure';
import { measure, short, whole } from './measure';
import type { Numbers, Results } from '../report/results';
import { parseResults } from '../report/results';
import type { Store, StoreName } from './stores';
import { openStore } from './stores';
import { replaceSection, shortTable, wholeTable } from '../report/table';

interface PeerRow {
  readonly title: string;
  readonly adapter: string;
  readonly store: StoreName;
  /** Puts the peer into the README. */
  readonly reason?: string;
}

const rows: Readonly<Record<string, PeerRow>> = {
  holdfast: { title: 'Holdfast, embedded server', adapter: 'holdfast.js', store: 'embedded' },
  'holdfast-cluster': {
    title: 'Holdfast, cluster on PostgreSQL',
    adapter: 'holdfast.js',
    store: 'cluster',
    reason: 'runs are long, wait for people, outlive deploys, or pay',
  },
  temporal: { title: 'Temporal by hand, cluster on PostgreSQL', adapter: 'temporal.js', store: 'cluster' },
  'openai-agents': {
    title: 'OpenAI Agents plugin, cluster on PostgreSQL',
    adapter: 'openai-agents.mjs',
    store: 'cluster',
    reason: 'you have OpenAI agents and Temporal, and runs stay short',
  },
  dbos: {
    title: 'DBOS, PostgreSQL',
    adapter: 'dbos.mjs',
    store: 'postgres',
    reason: 'you want cheap durable steps, and write the agent loop',
  },
  langgraph: {
    title: 'LangGraph, PostgreSQL',
    adapter: 'langgraph.mjs',
    store: 'postgres',
    reason: 'you want graphs, and restart threads after a crash',
  },
  mastra: {
    title: 'Mastra, PostgreSQL',
    adapter: 'mastra.mjs',
    store: 'postgres',
    reason: 'runs need not outlive a crash in a tool call',
  },
};

const root = join(folder, '..', '..');
const resultsFile = join(folder, 'results.json');

const introduction = `## Why Holdfast

Holdfast brings the agent loop, approvals, teams, conversations and a console, and Temporal keeps the runs. All frameworks did the same work on two
cores: runs of 100 turns with 3.2 KB of new text a turn, and ten runs killed in a payment ([benchmarks](docs/benchmarks.md)).`;

/** Arguments: names of peers. Default: all. */
export async function benchPeers(args: readonly string[]): Promise<Results> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { short: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
  });
  const unknown = positionals.filter((name) => rows[name] === undefined);
  if (unknown.length > 0) throw new Error(`There is no peer "${unknown.join('", "')}". There are: ${Object.keys(rows).join(', ')}.`);
  const names = positionals.length === 0 ? Object.keys(rows) : positionals;
  installPeers();
  const measured = new Map<string, Numbers>();
  const note = (peer: string, numbers: Numbers): void => {
    measured.set(peer, numbers);
    // At once, so that numbers survive a later failure.
    if (values.write) write(measured);
  };
  for (const store of ['postgres', 'embedded', 'cluster'] as const) {
    const here = names.filter((name) => rows[name]?.store === store);
    await measureOn(store, here, values.short ? short : whole, note);
  }
  const results = resultsOf(measured);
  console.log(wholeTable(results));
  return results;
}

function resultsOf(measured: ReadonlyMap<string, Numbers>, before: Results['peers'] = {}): Results {
  const peers = Object.entries(rows).flatMap(([name, { title }]) => {
    const numbers = measured.get(name) ?? before[title];
    return numbers === undefined ? [] : [[title, numbers] as const];
  });
  return { date: new Date().toISOString().slice(0, 10), machine: machine(), versions: versions(), peers: Object.fromEntries(peers) };
}

/** An idle store costs CPU, so a store stops after its peers. */
async function measureOn(
  name: StoreName,
  peers: readonly string[],
  extent: Extent,
  note: (peer: string, numbers: Numbers) => void,
): Promise<void> {
  if (peers.length === 0) return;
  let store: Store;
  try {
    store = await openStore(name);
  } catch (error) {
    console.error(`Left out: ${peers.join(', ')}. The store '${name}' did not come up.`, error);
    return;
  }
  try {
    for (const peer of peers) {
      try {
        const numbers = await measure(rows[peer]?.adapter ?? '', store, extent, (stage) => console.error(`${peer}: ${stage}`));
        console.error(JSON.stringify({ peer, ...numbers }));
        note(peer, numbers);
      } catch (error) {
        console.error(`Left out: ${peer}.`, error);
      }
    }
  } finally {
    await store.stop();
  }
}

/** Keeps earlier numbers of peers left out now. */
function write(measured: ReadonlyMap<string, Numbers>): void {
  const all = resultsOf(measured, existsSync(resultsFile) ? parseResults(readFileSync(resultsFile, 'utf8')).peers : {});
  const reasons = Object.fromEntries(Object.values(rows).flatMap(({ title, reason }) => (reason === undefined ? [] : [[title, reason]])));
  writeFileSync(resultsFile, `${JSON.stringify(all, undefined, 2)}\n`);
  for (const [file, table] of [
    ['README.md', `${introduction}\n\n${shortTable(all, reasons)}`],
    ['docs/benchmarks.md', `${wholeTable(all)}\n\n${provenance(all)}`],
  ] as const) {
    const path = join(root, file);
    writeFileSync(path, replaceSection(readFileSync(path, 'utf8'), 'peers', table));
  }
}

function provenance({ date, machine, versions }: Results): string {
  const list = Object.entries(versions).map(([name, version]) => `- ${name} ${version}`);
  return [`Measured on ${date}, ${machine}. Versions:`, '', ...list].join('\n');
}

function machine(): string {
  return `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
}

function versions(): Readonly<Record<string, string>> {
  const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
    dependencies: Record<string, string>;
  };
  const sdk = dependencies['@temporalio/worker'] ?? '';
  const shownPeers = ['@dbos-inc/dbos-sdk', 'langchain', '@langchain/langgraph', '@langchain/langgraph-checkpoint-postgres'];
  const others = ['@mastra/core', '@mastra/pg', '@temporalio/openai-agents', '@openai/agents-core', 'node'];
  const ofPeers = versionsOfPeers();
  return {
    holdfast: version,
    '@temporalio/worker (Holdfast and by hand)': sdk,
    ...Object.fromEntries([...shownPeers, ...others].map((name) => [name, ofPeers[name] ?? ''])),
  };
}
