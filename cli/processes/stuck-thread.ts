import { writeSync } from 'node:fs';
import type { Debugger } from 'node:inspector';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { CallAtWork } from '../../activities/health/calls-at-work';
import { createLogger } from '../../host/logger';
import type { StuckWatchSettings } from './stuck-watch';

/** The thread of `watchForStuck`. */
const { ticks, pid, level, format } = workerData as StuckWatchSettings;
const counter = new Int32Array(ticks);
// The streams of a thread go through the process, which is stuck.
const logger = createLogger({ level, format, write: (line) => void writeSync(2, line) });

const lookMs = 500;
/** As long as the server waits for the heartbeat of a call. */
const stuckMs = 10_000;
/** This thread was not there itself: the whole machine slept, or was too busy. */
const absentMs = 3000;

const calls = new Map<number, CallAtWork>();
parentPort?.on('message', (call: CallAtWork) => {
  if (call.is === 'begin') calls.set(call.number, call);
  else calls.delete(call.number);
});

let seen = -1;
let movedAt = performance.now();
let lookedAt = movedAt;
let isTold = false;

setInterval(() => {
  const now = performance.now();
  const wasAbsent = now - lookedAt > absentMs;
  lookedAt = now;
  const count = Atomics.load(counter, 0);
  if (count !== seen || wasAbsent) {
    if (isTold && count !== seen) logger.info(`The process goes on after ${seconds(now - movedAt)}.`, { event: 'unstuck' });
    if (count !== seen) isTold = false;
    seen = count;
    movedAt = now;
    return;
  }
  if (isTold || now - movedAt < stuckMs) return;
  isTold = true;
  void tell(now - movedAt);
}, lookMs);

async function tell(ms: number): Promise<void> {
  const at = [...calls.values()].map(({ tool, address, run }) => `'${tool}' (${address} of the run ${run})`);
  const during = at.length === 0 ? '' : ` while ${at.length === 1 ? 'the tool' : 'the tools'} ${at.join(', ')} ran in it`;
  const stack = await stackOfProcess().catch(() => undefined);
  logger.error(
    `The process has not come round for ${seconds(ms)}${during}. Nothing else runs meanwhile, and Ctrl-C does not reach it. If that is no loop that ends, end it with: kill -9 ${pid}`,
    {
      event: 'stuck',
      fix: 'Let the tool wait instead, or do such work in a child process or a worker thread.',
      ...(stack === undefined ? {} : { stack }),
    },
  );
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

/** A process with many scripts takes its time to show where it stands. */
const patienceMs = 8000;

/** Where the code of the process stands, from the file of the user on. */
function stackOfProcess(): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const session = new Session();
    const timer = setTimeout(() => end(() => resolve(undefined)), patienceMs);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      session.disconnect();
      settle();
    };
    session.connectToMainThread();
    // Frames say the id of their script only.
    const urls = new Map<string, string>();
    session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => urls.set(scriptId, url));
    session.on('Debugger.paused', ({ params }) => {
      const lines = linesOf(params.callFrames, urls);
      session.post('Debugger.resume', () => end(() => resolve(lines === '' ? undefined : lines)));
    });
    session.post('Debugger.enable', (error) => {
      if (error !== null) return end(() => reject(error));
      session.post('Debugger.pause');
    });
  });
}

const mostFrames = 3;

function linesOf(frames: readonly Debugger.CallFrame[], urls: ReadonlyMap<string, string>): string {
  const placed = frames.map(({ functionName, location: { scriptId, lineNumber } }) => ({
    name: functionName,
    url: urls.get(scriptId) ?? '',
    line: lineNumber + 1,
  }));
  const own = placed.filter(({ url }) => (url.startsWith('file:') || url.startsWith('/')) && !url.includes('/node_modules/'));
  return own
    .slice(0, mostFrames)
    .map(({ name, url, line }) => {
      const place = `${url.startsWith('file:') ? fileURLToPath(url) : url}:${line}`;
      return name === '' ? `at ${place}` : `at ${name} (${place})`;
    })
    .join('\n');
}
