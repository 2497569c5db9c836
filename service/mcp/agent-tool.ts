import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Json, JsonObject } from '../../contract/messages/messages';
import { checkStart } from '../http/asked-agent';
import type { AgentSummary } from '../project/load-project';
import type { Run } from '../../client/index';
import type { McpCaller } from './caller';
import { inTime } from './caller';

export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: 'object' };
  readonly annotations?: { readonly readOnlyHint: boolean };
}

const runId: Json = { type: 'string', description: 'An id for the run. A repeated call with the same id is the same run.' };

/** Arguments of the tool are the fields of the job, or `input` for a text and for jobs of other forms. */
export function toolOfAgent({ name, description, takesJob, inputSchema }: AgentSummary): ShownTool {
  if (isFields(inputSchema))
    return { name, description, inputSchema: { ...inputSchema, type: 'object', properties: { ...inputSchema.properties, runId } } };
  const { input, ...definitions } = inputOf(takesJob, inputSchema);
  const schema = {
    type: 'object',
    properties: { input, runId },
    required: ['input'],
    additionalProperties: false,
    ...definitions,
  } as const;
  return { name, description, inputSchema: schema };
}

/** References that would lead elsewhere from inside the field `input`. */
const rooted = /"\$id":"|"\$ref":"(?!#\/(?:\$defs|definitions)\/)/;

function inputOf(
  takesJob: boolean,
  schema: Json | undefined,
): { readonly input: Json; readonly $defs?: Json; readonly definitions?: Json } {
  if (!takesJob) return { input: { type: 'string', description: 'What the agent is told.' } };
  if (!isRecord(schema) || rooted.test(JSON.stringify(schema))) return { input: {} };
  const { $schema: _, $defs, definitions, ...input } = schema;
  return { input, ...defined({ $defs, definitions }) };
}

interface Fields extends JsonObject {
  readonly properties: JsonObject;
}

function isFields(schema: Json | undefined): schema is Fields {
  if (!isRecord(schema) || schema['type'] !== 'object') return false;
  const { properties } = schema;
  return isRecord(properties) && !Object.hasOwn(properties, 'runId');
}

/** The same id with the same arguments is the same run. */
export async function startRun(caller: McpCaller, agent: AgentSummary, given: JsonObject): Promise<Run> {
  const { runId: id, ...fields } = given;
  if (id !== undefined && typeof id !== 'string') throw new HoldfastError('run-id-invalid', '`runId` must be a text.');
  const input = isFields(agent.inputSchema) ? fields : inputIn(agent, fields);
  checkStart(caller.parts, { agent: agent.name, input });
  return inTime(caller, () => caller.client.start(agent.name, input as Json, id === undefined ? {} : { id }));
}

function inputIn({ name }: AgentSummary, { input, ...others }: JsonObject): Json | undefined {
  const [stranger] = Object.keys(others);
  if (stranger !== undefined)
    throw new HoldfastError('request-invalid', `The tool "${name}" takes input and runId, and not "${stranger}".`);
  return input;
}
