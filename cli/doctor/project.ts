import { ModelRegistry, type ModelsOptions } from '../../activities/models/models';
import { checkKeyedEnvironment } from '../../activities/models/providers/keyed';
import { codeOf } from '../../contract/errors';
import { notJson } from '../../contract/messages/messages';
import { readConfiguration, type Configuration, type Environment } from '../../host/configuration';
import { boundedPatternsIn, mostNative } from '../../host/linear-pattern';
import { loadProject, type Project } from '../../service/project/load-project';
import { bundleAgents } from '../../worker/bundle/bundle';
import { checkBundle } from '../../worker/bundle/check-bundle';
import { quietRuntime } from '../../worker/runtime';
import { unknownVariables } from '../processes/unknown-variables';
import { checkedBy, fine, found, foundBy, type Finding } from './finding';

interface Read<T> {
  readonly findings: readonly Finding[];
  readonly value: T | undefined;
}

export function checkEnvironment(environment: Environment): Read<Configuration> {
  try {
    const value = readConfiguration(environment);
    checkKeyedEnvironment(environment);
    const unknown = unknownVariables(environment).map((message) => found('environment', 'warning', 'config-invalid', message));
    return { findings: unknown.length > 0 ? unknown : [fine('environment', 'All variables are valid.')], value };
  } catch (error) {
    return { findings: [foundBy('environment', error)], value: undefined };
  }
}

export async function checkConfiguration(file: string | undefined, directory: string): Promise<Read<Project>> {
  try {
    const value = await loadProject(file, directory);
    const names = value.agents.map(({ name }) => name);
    return { findings: [fine('configuration', `${value.file} loads, with the agents ${names.join(', ')}.`)], value };
  } catch (error) {
    return { findings: [foundBy('configuration', error)], value: undefined };
  }
}

export function checkBuild(agentsFile: string): Promise<Finding> {
  return checkedBy('build', async () => {
    quietRuntime();
    const bundle = await bundleAgents(agentsFile);
    await checkBundle(bundle);
    return `The agents load in the workflow sandbox, as build ${bundle.buildId}.`;
  });
}

/** Only `dev` has the demo model for `default`. */
export function checkModels({ config, models }: Pick<Project, 'config' | 'models'>, environment: Environment): readonly Finding[] {
  const { prices: _, ...options } = config.models ?? {};
  const registry = new ModelRegistry(options satisfies ModelsOptions, environment);
  return models.map((name) => {
    try {
      const id = registry.idOf(name);
      return fine('models', name === id ? `${id} can be called.` : `${name} is ${id}.`);
    } catch (error) {
      const missing = foundBy('models', error);
      if (codeOf(error) !== 'model-key-missing' || name !== 'default') return missing;
      return {
        ...missing,
        status: 'warning',
        message: `${missing.message} \`holdfast dev\` answers with the demo model, and \`holdfast worker\` fails.`,
        fix: `${registry.realModelAdvice}.`,
      };
    }
  });
}

/** Zod and other libraries check schemas themselves. */
export function checkPatterns({ config, agents }: Pick<Project, 'config' | 'agents'>): readonly Finding[] {
  const schemas: readonly (readonly [string, unknown])[] = [
    ...Object.entries(config.tools ?? {}).map(
      ([name, tool]) => [`tool "${name}"`, (tool as { inputSchema?: unknown }).inputSchema] as const,
    ),
    ...Object.entries(config.outputs ?? {}).map(([name, schema]) => [`output "${name}"`, schema] as const),
    ...agents.map(({ name, inputSchema }) => [`agent "${name}"`, inputSchema] as const),
  ];
  const findings = schemas.flatMap(([owner, schema]) => {
    const { jsonSchema, validate } = (schema ?? {}) as { jsonSchema?: unknown; validate?: unknown };
    const json = jsonSchema !== undefined && validate === undefined ? jsonSchema : schema;
    if (json === undefined || notJson(json) !== undefined) return [];
    return boundedPatternsIn(json).map((pattern) =>
      found(
        'patterns',
        'warning',
        'config-invalid',
        `The schema of the ${owner} has the pattern "${pattern}". It has look-around or back-references, or is very large, so no text of more ` +
          `than ${mostNative} characters fits it.`,
      ),
    );
  });
  return findings.length > 0 ? findings : [fine('patterns', 'The patterns of JSON Schemas can be checked on texts of any length.')];
}
