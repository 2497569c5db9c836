import { HoldfastError } from '../contract/errors';
import { shown } from '../contract/shown';

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isPath = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const optional =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || check(value);

const rules: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  server: [isRecord, 'an object that says where the Temporal server is: { address: "localhost:7233", namespace: "default" }'],
  tools: [isRecord, 'an object with tools by their names'],
  bundles: [isPath, 'the path of a directory in which the code of builds is kept that still have open runs'],
  outputs: [optional(isRecord), 'an object with schemas by their names'],
  middleware: [optional(Array.isArray), 'a list of worker middlewares'],
  observers: [optional(Array.isArray), 'a list of observers'],
  models: [optional(isRecord), 'an object with providers and aliases'],
};

/** Refuses what a worker cannot begin with. Programs in plain JavaScript may give anything. */
export function checkWorkerOptions(given: unknown): void {
  const options = (isRecord(given) ? given : {}) as Readonly<Record<string, unknown>>;
  const refuse = (field: string, what: string): never => {
    throw new HoldfastError('config-invalid', `HoldfastWorker.create: ${field} must be ${what}, and is ${shown(options[field])}.`);
  };
  if (!isRecord(given))
    throw new HoldfastError('config-invalid', 'HoldfastWorker.create takes an object with server, agents, tools and bundles.');
  for (const [field, [check, what]] of Object.entries(rules)) if (!check(options[field])) refuse(field, what);
  if (options['bundle'] === undefined && !isPath(options['agents'])) refuse('agents', 'the path of the module that exports the agents');
}
