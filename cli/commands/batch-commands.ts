import { createReadStream, createWriteStream } from 'node:fs';
import { access, rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { BatchQuery, BatchRequest, StopBatchRequest } from '../../client/http/requests';
import type { ShownBatch } from '../../contract/batches';
import { batchTag } from '../../contract/batches';
import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import { commandLine } from '../../contract/shell-words';
import type { FoundService } from '../found-service';
import { LostService } from '../lost-service';
import { exitCodes, told, writeJson, writeTable, type JsonFlag } from '../output';
import type { Terminal } from '../terminal';
import { relativeTime } from '../times';

export type BatchFlags = BatchRequest & { readonly out?: string; readonly detach?: boolean };

const lookMs = { live: 1_000, plain: 5_000 };
const barWidth = 24;

export async function runBatch(service: FoundService, terminal: Terminal, file: string, flags: BatchFlags): Promise<number> {
  const { out, detach, ...request } = flags;
  if (file !== '-') await access(file).catch((error: unknown) => Promise.reject(unreadable(file, error)));
  const lines = Readable.toWeb(file === '-' ? process.stdin : createReadStream(file)) as Parameters<FoundService['startBatch']>[1];
  const { id, isNew, lines: count } = await service.startBatch(request, lines);
  terminal.write(terminal.paint.dim(`${isNew ? 'batch' : 'found batch'} ${id} (${count.toLocaleString('en')} lines)`));
  const show = commandLine('batches', 'show', id, ...service.flags);
  if (detach === true) return told(terminal, `See it with: ${show}`);
  const stop = commandLine('batches', 'stop', id, ...service.flags);
  const forget = terminal.ifInterrupted(`The batch goes on. See it with: ${show}\nStop it with: ${stop}`);
  try {
    const batch = await untilEnd(service, terminal, id, show);
    if (out !== undefined) await writeResults(service, id, out);
    return ended(service, terminal, batch, out);
  } finally {
    forget();
  }
}

/** A restarting service is waited for. */
async function untilEnd(service: FoundService, terminal: Terminal, id: string, again: string): Promise<ShownBatch> {
  const lost = new LostService(terminal, again);
  let first: { readonly at: number; readonly ended: number } | undefined;
  for (;;) {
    try {
      const batch = await service.batch(id);
      lost.isBack();
      const now = Date.now();
      first ??= { at: now, ended: endedOf(batch) };
      const line = progressLine(batch, ((endedOf(batch) - first.ended) * 1000) / Math.max(1, now - first.at));
      if (terminal.live) terminal.rewrite(line);
      else terminal.write(line);
      if (batch.status === 'running') await delay(terminal.live ? lookMs.live : lookMs.plain);
      else {
        if (terminal.live) terminal.write();
        return batch;
      }
    } catch (error) {
      lost.mayReturn(error);
      await delay(lookMs.live);
    }
  }
}

function endedOf({ counts: { completed, failed, cancelled, refused } }: ShownBatch): number {
  return completed + failed + cancelled + refused;
}

function progressLine(batch: ShownBatch, perSecond?: number): string {
  const { lines, counts } = batch;
  const done = endedOf(batch);
  // A schedule may not have given the lines yet.
  const whole = Math.max(1, lines);
  const facts = Object.entries(counts).flatMap(([name, count]) => (count > 0 && name !== 'completed' ? [`${count} ${name}`] : []));
  if (perSecond !== undefined) facts.unshift(`${perSecond.toFixed(1)}/s`);
  const bar = '='.repeat(Math.floor((barWidth * done) / whole)).padEnd(barWidth);
  return `[${bar}] ${Math.floor((100 * done) / whole)} %  ${done}/${lines}  ${facts.join(', ')}`.trimEnd();
}

/** The file is there when all results are. */
async function writeResults(service: FoundService, id: string, out: string): Promise<void> {
  const draft = `${out}.part`;
  async function* lines(): AsyncGenerator<string> {
    for await (const result of service.batchResults(id)) yield `${JSON.stringify(result)}\n`;
  }
  await pipeline(lines(), createWriteStream(draft));
  await rename(draft, out);
}

function ended(service: FoundService, terminal: Terminal, { id, status, counts }: ShownBatch, out: string | undefined): number {
  const { failed, refused, cancelled } = counts;
  if (status === 'stopped') terminal.write(`The batch ${id} was stopped.`);
  if (out !== undefined) terminal.write(`The results are in ${out}.`);
  if (failed > 0)
    terminal.write(`Retry the failed runs with: ${commandLine('retry', '--status', 'failed', '--tag', batchTag(id), ...service.flags)}`);
  return status === 'completed' && failed + refused + cancelled === 0 ? exitCodes.done : exitCodes.failed;
}

export async function listBatches(service: FoundService, terminal: Terminal, { json, ...query }: BatchQuery & JsonFlag): Promise<number> {
  const page = await service.batches(query);
  if (json === true) return writeJson(terminal, page);
  if (page.batches.length === 0) return told(terminal, 'There are no batches.');
  const now = Date.now();
  const rows = page.batches.map(({ id, agent, status, lines, startedAt, startedBy }) => [
    ...[id, agent, status, String(lines), relativeTime(Date.parse(startedAt), now), startedBy ?? '-'],
  ]);
  writeTable(terminal, rows, ['BATCH', 'AGENT', 'STATUS', 'LINES', 'STARTED', 'BY']);
  if (page.next !== undefined) terminal.write(`more: ${commandLine('batches', 'list', '--after', page.next, ...service.flags)}`);
  return exitCodes.done;
}

export async function showBatch(service: FoundService, terminal: Terminal, id: string, { json }: JsonFlag): Promise<number> {
  const batch = await service.batch(id);
  if (json === true) return writeJson(terminal, batch);
  terminal.write(`${terminal.paint.bold(batch.id)}  ${batch.agent}  ${batch.status}`);
  const problem = batch.error ?? batch.problem;
  if (problem !== undefined) terminal.write(terminal.paint.yellow(`${problem.code}: ${problem.message}`));
  return told(terminal, progressLine(batch));
}

export async function stopBatch(service: FoundService, terminal: Terminal, id: string, { cancelRuns }: StopBatchRequest): Promise<number> {
  await service.stopBatch(id, defined({ cancelRuns }));
  return told(terminal, `The batch ${id} starts no more runs.${cancelRuns === true ? ' Its open runs are asked to stop.' : ''}`);
}

function unreadable(file: string, error: unknown): HoldfastError {
  return new HoldfastError('command-invalid', `The file ${file} cannot be read: ${messageOf(error)}.`);
}
