import type { Forms } from '../contract/check';
import {
  anything,
  checkFields,
  filled,
  isRecord,
  list,
  problemOfKnown,
  record,
  refusing,
  required,
  sentence,
  worded,
} from '../contract/check';
import { shown } from '../contract/shown';

/** Of every worker that has agents. */
const shared: Forms = {
  tools: required(worded(record, 'an object with tools by their names')),
  outputs: worded(record, 'an object with schemas by their names'),
  middleware: worded(list, 'an array of worker middlewares'),
  observers: worded(list, 'an array of observers'),
  models: worded(record, 'an object with providers and aliases'),
};
const forms: Forms = {
  server: required(worded(record, 'an object that says where the Temporal server is: { address: "localhost:7233", namespace: "default" }')),
  bundles: required(worded(filled, 'the path of a directory in which the code of builds is kept that still have open runs')),
  ...shared,
};
const agents = required(worded(filled, 'the path of the module that exports the agents'));
const ofPlugin: Forms = {
  agents,
  ...shared,
  language: anything,
  toolDefaults: anything,
  modelFacts: anything,
  environment: anything,
  deltas: anything,
  modelStallMs: anything,
  messageCacheBytes: anything,
  storage: anything,
  onProblem: anything,
};

/** Refuses what a worker cannot begin with. Programs in plain JavaScript may give anything. */
export function checkWorkerOptions(given: unknown): void {
  const refuse = refusing('HoldfastWorker.create', 'config-invalid');
  if (!isRecord(given)) return refuse(`the options must be an object with server, agents, tools and bundles, not ${shown(given)}.`);
  const problem = problemOfKnown(given, given['bundle'] === undefined ? { ...forms, agents } : forms, (option) => option);
  if (problem !== undefined) refuse(sentence(problem));
}

/** The same for `holdfastPlugin`. What belongs to the user's own worker or client is refused, too: here nobody would heed it. */
export function checkPluginOptions(given: unknown): void {
  const refuse = refusing('holdfastPlugin', 'config-invalid');
  if (!isRecord(given)) return refuse(`the options must be an object with agents and tools, not ${shown(given)}.`);
  checkFields(given, ofPlugin, refuse);
}
