import type { Form, Forms } from '../contract/check';
import {
  anything,
  bound,
  checkFields,
  count,
  duration,
  filled,
  flag,
  form,
  func,
  having,
  isFilled,
  isRecord,
  isString,
  list,
  oneOf,
  record,
  refusing,
  required,
  shape,
  worded,
} from '../contract/check';
import { limitsForm } from '../activities/limits/limit';
import { shown } from '../contract/shown';
import { leastCachedRuns, redisUrlProblem } from '../host/check-settings';

const redisUrlForm: Form = {
  wanted: 'the URL of a Redis',
  problem: (value, option) => {
    const problem = isString(value) ? redisUrlProblem(value) : 'It must be a URL that begins with redis:// or rediss://.';
    return problem === undefined ? undefined : `${option} is ${shown(value)}. ${problem.replace(/\.$/, '')}`;
  },
};

const shared: Forms = {
  tools: required(worded(record, 'an object with tools by their names')),
  outputs: worded(record, 'an object with schemas by their names'),
  policies: worded(record, 'an object with policies by their names'),
  mcp: worded(record, 'an object with MCP servers by their names'),
  middleware: worded(list, 'an array of worker middlewares'),
  observers: worded(list, 'an array of observers'),
  models: shape(
    { providers: record, names: record, demo: flag, limits: limitsForm, patience: duration },
    'an object with providers and names',
  ),
  language: oneOf('en', 'zh'),
  toolDefaults: shape({
    kind: anything,
    effect: oneOf('none', 'idempotent', 'once'),
    timeoutMs: bound,
    heartbeatMs: bound,
    attempts: bound,
    concurrency: bound,
    resultLimit: bound,
    schemaHash: anything,
    ownAttempts: bound,
    external: flag,
  }),
  modelFacts: shape({ timeoutMs: bound, heartbeatMs: bound, attempts: bound, patienceMs: count }),
  redisUrl: redisUrlForm,
  environment: worded(record, 'an object such as process.env'),
  deltas: having(['publish', 'settle'], 'a sink of deltas'),
  modelStallMs: bound,
  messageCacheBytes: count,
  onProblem: func,
};
const isAddressed = (value: unknown): boolean => isRecord(value) && isFilled(value['address']) && isFilled(value['namespace']);
const ofWorker: Forms = {
  server: required(
    form(isAddressed, 'an object that says where the Temporal server is: { address: "localhost:7233", namespace: "default" }'),
  ),
  bundles: required(worded(filled, 'the path of a directory in which the code of builds is kept that still have open runs')),
  ...shared,
  taskQueue: filled,
  dataConverter: record,
  compress: flag,
  maxCachedRuns: form(
    (value) => Number.isSafeInteger(value) && Number(value) >= leastCachedRuns,
    `a whole number from ${leastCachedRuns} on`,
  ),
  shutdownGraceMs: count,
  buildCheckMs: bound,
  unservedMs: count,
  stickyTimeoutMs: bound,
  endlessLoopMs: bound,
  stackTraces: flag,
  bundle: record,
};
const agents = required(worded(filled, 'the path of the module that exports the agents'));
const ofPlugin: Forms = {
  agents,
  ...shared,
  storage: anything,
  compress: flag,
};

export function checkWorkerOptions(given: unknown): void {
  const refuse = refusing('HoldfastWorker.create', 'config-invalid');
  if (!isRecord(given)) return refuse(`the options must be an object with server, agents, tools and bundles, not ${shown(given)}.`);
  checkFields(given, { ...ofWorker, agents: given['bundle'] === undefined ? agents : anything }, refuse);
}

/** Options of the user's own worker or client would have no effect. */
export function checkPluginOptions(given: unknown): void {
  const refuse = refusing('holdfastPlugin', 'config-invalid');
  if (!isRecord(given)) return refuse(`the options must be an object with agents and tools, not ${shown(given)}.`);
  checkFields(given, ofPlugin, refuse);
}
