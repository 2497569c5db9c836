import { isRecord } from '../../../../contract/check';
import { defined } from '../../../../contract/defined';
import { HoldfastError } from '../../../../contract/errors';
import type { Json } from '../../../../contract/messages/messages';
import type { GenerateRequest } from '../../language-model';
import type { ToolSpec } from '../../../../contract/manifest';
import { promptOf } from './prompt';
import type { AiSdkOptions, SpecificationVersion } from './specification';
import { closed, isStrict } from './strict-schema';

export function callOptions(request: GenerateRequest, version: SpecificationVersion, options: AiSdkOptions): Record<string, unknown> {
  const { settings, output, signal } = request;
  const tools = toolsOf(request, options.deferOption);
  const { toolChoice, providerOptions, ...sampling } = settings;
  const schema = output === undefined ? undefined : closed(output.schema);
  const strict =
    schema === undefined || options.strictOption === undefined ? {} : { [options.strictOption]: { strictJsonSchema: isStrict(schema) } };
  const allOptions = mergedOptions(mergedOptions(options.providerOptions, strict) as AiSdkOptions['providerOptions'], providerOptions);
  return {
    ...defined(sampling),
    prompt: promptOf(request, version, options),
    abortSignal: signal,
    ...(tools.length === 0 ? {} : { tools, toolChoice: choiceOf(toolChoice) }),
    ...(output === undefined ? {} : { responseFormat: { type: 'json', name: schemaName(output.name), schema } }),
    ...defined({ providerOptions: allOptions }),
  };
}

/** A model without tool search gets deferred tools as usual tools. */
function toolsOf({ tools, deferred }: GenerateRequest, deferOption: string | undefined): readonly object[] {
  const plain = (tool: ToolSpec): object => ({ type: 'function', ...tool });
  if (deferred === undefined) return tools.map(plain);
  if (deferOption === undefined) return [...tools, ...deferred.tools].map(plain);
  const found = { providerOptions: { [deferOption]: { deferLoading: true } } };
  return [...[...tools, deferred.search].map(plain), ...deferred.tools.map((tool) => ({ ...plain(tool), ...found }))];
}

function choiceOf(choice: Json | undefined): Json {
  if (choice === undefined || choice === null) return { type: 'auto' };
  const type = typeof choice === 'string' ? choice : isRecord(choice) ? choice['type'] : undefined;
  if (type === 'auto' || type === 'none' || type === 'required') return { type };
  if (type === 'tool' && isRecord(choice) && typeof choice['toolName'] === 'string') return { type, toolName: choice['toolName'] };
  throw new HoldfastError(
    'agent-invalid',
    `toolChoice is ${JSON.stringify(choice)}. It may be 'auto', 'none', 'required' or { type: 'tool', toolName }.`,
  );
}

/** Merges by provider; the agent's options win. */
function mergedOptions(defaults: AiSdkOptions['providerOptions'], own: Json | undefined): Record<string, unknown> | undefined {
  if (defaults === undefined) return isRecord(own) && Object.keys(own).length > 0 ? own : undefined;
  const merged: Record<string, unknown> = { ...defaults };
  for (const [provider, options] of Object.entries(isRecord(own) ? own : {})) {
    merged[provider] = isRecord(options) ? { ...defaults[provider], ...options } : options;
  }
  return merged;
}

/** OpenAI refuses other characters in a schema's name. */
function schemaName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'answer';
}
