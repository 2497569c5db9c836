import type { Fields, Forms } from './check';
import { both, form, identifier, isListOf, isRecord, problemOfFields, required, sentence, someNames, text } from './check';
import { jsonSize, limits } from './limits';
import { isName } from './names';
import type { ToolSpec } from './manifest';
import type { Json } from './messages/messages';
import { notJson } from './messages/messages';
import { jsonSchema } from './schema/schema-form';
import { first } from './schema/schema-parts';

export type TakenTools = true | readonly string[];

/** A tool of the client, for the turn of a message. */
export interface ClientTool {
  readonly name: string;
  /** Tells the model when to use the tool. */
  readonly description?: string;
  /** A JSON Schema of an object. Absent: no arguments. */
  readonly inputSchema?: Json;
}

/** Providers take only objects as arguments. */
const ofObject = form((schema) => isRecord(schema) && schema['type'] === 'object', 'a JSON Schema with the type "object"');

const forms: Forms<ToolSpec> = {
  name: required(identifier),
  description: required(text),
  inputSchema: required(both(jsonSchema, ofObject)),
};

export function specsOfClient(tools: readonly ClientTool[]): readonly ToolSpec[] {
  return tools.map(({ description = '', inputSchema = noArguments, ...others }) => ({ description, inputSchema, ...others }));
}

const noArguments: Json = { type: 'object', properties: {} };

export function clientToolsProblem(tools: unknown): string | undefined {
  if (!isListOf(tools, isRecord) || notJson(tools) !== undefined) return '`tools` must be a list of objects of JSON.';
  const all = tools as readonly Fields[];
  if (all.length > limits.clientTools) return `\`tools\` has ${all.length} tools; at most ${limits.clientTools} are taken.`;
  const bytes = jsonSize(all);
  if (bytes > limits.clientToolBytes) return `\`tools\` has ${bytes} bytes; at most ${limits.clientToolBytes} fit.`;
  const problem = first(all, (tool, position) => problemOfFields(tool, forms, `tools[${position}]`));
  if (problem !== undefined) return sentence(problem);
  const names = all.map(({ name }) => name as string);
  const double = names.find((name, position) => names.indexOf(name) < position);
  return double === undefined ? undefined : `\`tools\` names "${double}" twice.`;
}

export function untakenTool(
  tools: readonly Pick<ToolSpec, 'name'>[],
  taken: TakenTools | undefined,
  own: readonly string[],
): string | undefined {
  return tools.find(({ name }) => !takesTool(taken, name) && !own.includes(name))?.name;
}

export function takesTool(taken: TakenTools | undefined, name: string): boolean {
  return taken === true || taken?.includes(name) === true;
}

export function takenTogether(all: readonly (TakenTools | undefined)[]): TakenTools | undefined {
  if (all.includes(true)) return true;
  const names = all.flatMap((taken) => (taken === undefined || taken === true ? [] : taken));
  return names.length === 0 ? undefined : [...new Set(names)];
}

export function untakenText(tool: string, agent: string, taken: TakenTools | undefined): string {
  const takes = taken === undefined || taken === true ? 'none' : taken.join(', ');
  return `Agent "${agent}" takes no tool "${tool}" of its clients. It takes: ${takes}.`;
}

export const takenToolsForm = form(
  (value) => typeof value === 'boolean' || (someNames.problem(value, '') === undefined && (value as readonly string[]).every(isName)),
  'true, false, or the names of the tools that it takes of clients',
);
