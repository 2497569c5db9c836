import { HoldfastError } from '../contract/errors';
import { shown } from '../contract/shown';

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isPath = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const optional =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || check(value);

type Rules = Readonly<Record<string, readonly [(value: unknown) => boolean, string]>>;

const shared: Rules = {
  tools: [isRecord, 'an object with tools by their names'],
  outputs: [optional(isRecord), 'an object with schemas by their names'],
  middleware: [optional(Array.isArray), 'a list of worker middlewares'],
  observers: [optional(Array.isArray), 'a list of observers'],
  models: [optional(isRecord), 'an object with providers and aliases'],
};

const rules: Rules = {
  server: [isRecord, 'an object that says where the Temporal server is: { address: "localhost:7233", namespace: "default" }'],
  bundles: [isPath, 'the path of a directory in which the code of builds is kept that still have open runs'],
  ...shared,
};

const agents = 'the path of the module that exports the agents';

/** Refuses what a worker cannot begin with. Programs in plain JavaScript may give anything. */
export function checkWorkerOptions(given: unknown): void {
  if (!isRecord(given))
    throw new HoldfastError('config-invalid', 'HoldfastWorker.create takes an object with server, agents, tools and bundles.');
  const needsAgents = (given as { readonly bundle?: unknown }).bundle === undefined;
  check('HoldfastWorker.create', given as object, needsAgents ? { ...rules, agents: [isPath, agents] } : rules);
}

const anything = (): boolean => true;
const ofPlugin: Rules = {
  agents: [isPath, agents],
  ...shared,
  ...Object.fromEntries(
    ['language', 'toolDefaults', 'modelFacts', 'environment', 'deltas', 'modelStallMs', 'messageCacheBytes', 'storage', 'onProblem'].map(
      (name) => [name, [anything, '']] as const,
    ),
  ),
};

/** The same for `holdfastPlugin`. What belongs to the user's own worker or client is refused, too: here nobody would heed it. */
export function checkPluginOptions(given: unknown): void {
  if (!isRecord(given)) throw new HoldfastError('config-invalid', 'holdfastPlugin takes an object with agents and tools.');
  const unknown = Object.keys(given as object).find((name) => !Object.hasOwn(ofPlugin, name));
  if (unknown !== undefined)
    throw new HoldfastError('config-invalid', `holdfastPlugin has no option '${unknown}'. It has: ${Object.keys(ofPlugin).join(', ')}.`);
  check('holdfastPlugin', given as object, ofPlugin);
}

function check(who: string, options: object, all: Rules): void {
  for (const [field, [fits, what]] of Object.entries(all)) {
    const value = (options as Readonly<Record<string, unknown>>)[field];
    if (!fits(value)) throw new HoldfastError('config-invalid', `${who}: ${field} must be ${what}, and is ${shown(value)}.`);
  }
}
