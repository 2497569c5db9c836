import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { temporal } from '@temporalio/proto';
import { readFileSync } from 'node:fs';
import { MessageStore } from '../activities/transcripts/message-store';
import { requestIn } from '../activities/transcripts/request-history';
import { HistoryFold } from '../contract/record/fold';
import { connectTemporal } from '../host/connection';
import { factEventsOf } from '../host/history/fact-events';
import { FactReader } from '../host/history/history-facts';
import type { ExecutionRef, HistorySource } from '../host/history/history-pages';
import { oldestPages } from '../host/history/history-pages';
import { runHistory } from '../worker/run-history';
import { rounded, startBed, startServer, turnModel } from './setup';

const turns = 60;
const times = 40;
const Page = temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse;

/** What it costs a worker with an empty memory to put the request of a run with many turns together again, by part, in CPU time. */
export async function benchRebuild(): Promise<object> {
  const bench = await startServer();
  const bed = await startBed(bench, 'rebuild', { models: turnModel(turns, 'look', () => '') });
  const run = await bed.client.start('worker', 'Work.', { id: 'rebuild' });
  await run.result();
  await bed.close();
  const { connection, close } = await connectTemporal(bench.server);
  const { workflowService } = connection;
  const { namespace } = bench.server;
  const workflowId = `default/${run.id}`;
  const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
  const runId = workflowExecutionInfo?.execution?.runId ?? '';
  const full = { workflowService, namespace };
  const source = connection.facts(namespace);
  const converter = loadDataConverter({});
  const reader = new FactReader(converter);
  const execution = { workflowId, runId };

  const all = await pagesOf(full, execution);
  const encoded = all.map((events) => Page.encode({ history: { events: [...events] } }).finish());
  const facts = await reader.read((await pagesOf(source, execution)).flat(), workflowId);
  const last = [...facts].reverse().find(({ kind }) => kind === 'model-scheduled');
  if (last?.kind !== 'model-scheduled') throw new Error('The run made no model call.');

  const serverBefore = cpuOf(bench.serverId);
  const fullRead = await cpuMs(() => pagesOf(full, execution));
  const serverMs = (cpuOf(bench.serverId) - serverBefore) / (times + warmUp);
  const cpu = {
    fullRead,
    read: await cpuMs(() => pagesOf(source, execution)),
    fullDecode: await cpuMs(() => encoded.forEach((bytes) => Page.decode(bytes))),
    decode: await cpuMs(() => encoded.forEach((bytes) => factEventsOf(bytes))),
    payloads: await cpuMs(() => reader.read(all.flat(), workflowId)),
    fold: await cpuMs(() => {
      const fold = new HistoryFold();
      for (const fact of facts) fold.add(fact);
    }),
    request: await cpuMs(() => requestIn(facts, last.activityId)),
    rebuild: await cpuMs(() =>
      new MessageStore(runHistory(source, () => converter)).resolve(workflowId, runId, last.activityId, last.input),
    ),
  };
  await close();
  await bench.close();
  const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
  return { turns, events: all.flat().length, pages: all.length, bytes, cpuMs: cpu, serverMs: rounded(serverMs) };
}

async function pagesOf<Event>(source: HistorySource<Event>, execution: ExecutionRef): Promise<readonly (readonly Event[])[]> {
  const pages: (readonly Event[])[] = [];
  for await (const page of oldestPages(source, execution, false)) pages.push(page);
  return pages;
}

const warmUp = 10;

async function cpuMs(work: () => unknown): Promise<number> {
  for (let round = 0; round < warmUp; round++) await work();
  const begun = process.cpuUsage();
  for (let round = 0; round < times; round++) await work();
  const { user, system } = process.cpuUsage(begun);
  return rounded((user + system) / 1000 / times);
}

/** Of another process, as Linux tells it. */
function cpuOf(id: number): number {
  if (process.platform !== 'linux') return 0;
  const [, fields = ''] = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ');
  const [user = '0', system = '0'] = fields.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}
