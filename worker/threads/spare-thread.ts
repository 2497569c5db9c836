import * as modules from 'node:module';
import { Worker as Thread } from 'node:worker_threads';
import { optionsOfThread } from './thread-options';

/**
 * The SDK's thread for workflow code, with no hook on every promise unless that is wanted. It takes one request after another: the SDK's own code begins
 * with the next one while a promise of the first has yet to be heard, so that nobody could say whose code goes on.
 *
 * After each activation the SDK asks for what the workflow has logged, mostly for nothing. So this is looked up at once. The answer to the activation says
 * that there is nothing (`isQuiet`), and what there is waits until it is asked for.
 */
export const threadCode = `
const { parentPort, workerData } = require('node:worker_threads');
if (workerData.compiled !== undefined) require('node:module').enableCompileCache(workerData.compiled);
const on = parentPort.on.bind(parentPort);
const post = parentPort.postMessage.bind(parentPort);
let answer;
parentPort.postMessage = (message) => {
  if (message.requestId === undefined) post(message);
  else answer = message;
};
const logged = new Map();
const answerOf = async (listener, request) => {
  answer = undefined;
  await listener(request);
  return answer;
};
const send = (message) => {
  try {
    post(message);
  } catch ({ message: text, name, stack }) {
    post({ requestId: message.requestId, result: { type: 'error', message: text, name, stack } });
  }
};
const serve = async (listener, request) => {
  const { requestId, input } = request;
  const { type, runId } = input;
  const waiting = logged.get(runId);
  logged.delete(runId);
  if (type === 'extract-sink-calls' && waiting !== undefined) return send({ ...waiting, requestId });
  const done = await answerOf(listener, request);
  if (type === 'activate-workflow' && done.result.type === 'ok') {
    const calls = await answerOf(listener, { requestId, input: { type: 'extract-sink-calls', runId } });
    if (calls.result.output?.calls.length === 0) done.result.output.isQuiet = true;
    else logged.set(runId, calls);
  }
  send(done);
};
let before = Promise.resolve();
parentPort.on = (event, listener) =>
  on(event, event === 'message' ? (request) => (before = before.then(() => serve(listener, request))) : listener);
if (!workerData.stackTraces) require(workerData.handlers).globalHandlers.setPromiseHook = () => undefined;
require(workerData.thread);
`;

/** Where Node keeps compiled code of this process, if it does. From Node 22.8 on. */
const { getCompileCacheDir } = modules as { readonly getCompileCacheDir?: () => string | undefined };

let spare: Thread | undefined;

/** A thread loads modules for a fifth of a second before it can take a bundle. One that is made now does so beside whatever comes before its bundle. */
export function prepareThread(): void {
  if (spare !== undefined) return;
  const thread = newThread(false);
  const forget = (): void => {
    if (spare === thread) spare = undefined;
  };
  // Whoever takes it hears of its end. Nobody needs one that ends before.
  thread.on('error', forget);
  thread.once('exit', forget);
  thread.unref();
  spare = thread;
}

/** Ends what was prepared and is not needed. */
export async function dropThread(): Promise<void> {
  const thread = spare;
  spare = undefined;
  await thread?.terminate();
}

/** The prepared thread, or a new one. */
export function takeThread(stackTraces: boolean): Thread {
  if (spare === undefined || stackTraces) return newThread(stackTraces);
  const thread = spare;
  spare = undefined;
  thread.removeAllListeners();
  thread.ref();
  return thread;
}

function newThread(stackTraces: boolean): Thread {
  const workerData = {
    handlers: require.resolve('@temporalio/worker/lib/workflow/vm-shared'),
    thread: require.resolve('@temporalio/worker/lib/workflow/workflow-worker-thread'),
    stackTraces,
    compiled: getCompileCacheDir?.(),
  };
  return new Thread(threadCode, { ...optionsOfThread(), eval: true, workerData });
}
