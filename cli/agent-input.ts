import { HoldfastError } from '../contract/errors';
import { misfitOfSchema } from '../contract/schema/schema-fit';
import type { ListedAgent } from '../contract/service';
import { exampleOf } from './schema-example';
import { runLine } from '../contract/shell-words';

/** Such as `job { orderId, note? }`. */
export function takenBy({ takesJob, inputSchema }: ListedAgent): string {
  if (takesJob !== true) return 'text';
  const { properties, required } = (inputSchema ?? {}) as { readonly properties?: object; readonly required?: readonly string[] };
  const fields = Object.keys(properties ?? {}).map((field) => (required?.includes(field) === true ? field : `${field}?`));
  return fields.length === 0 ? 'job' : `job { ${fields.join(', ')} }`;
}

export function inputMissing(name: string, agents: readonly ListedAgent[], flags: readonly string[]): HoldfastError {
  const agent = agents.find((one) => one.name === name);
  if (agent === undefined)
    return new HoldfastError('agent-unknown', `There is no agent "${name}". There are: ${agents.map((one) => one.name).join(', ')}.`);
  const form = !agent.takesJob ? '' : agent.inputSchema === undefined ? ' as JSON, with the fields that its prompt reads' : ' as JSON';
  return new HoldfastError(
    'request-invalid',
    `The input is missing. The agent "${name}" takes a ${takenBy(agent)}${form}: ${runLine(name, exampleInput(agent), ...flags)}`,
  );
}

export function jobWanted(name: string, text: string, agents: readonly ListedAgent[], flags: readonly string[]): string {
  const agent = agents.find((one) => one.name === name);
  if (agent?.takesJob !== true || misfitOfSchema(agent.inputSchema, text) === undefined) return '';
  return ` The agent "${name}" takes a ${takenBy(agent)} as JSON: ${runLine(name, exampleInput(agent), ...flags)}`;
}

function exampleInput({ takesJob, inputSchema }: ListedAgent): unknown {
  return takesJob ? (exampleOf(inputSchema, 'your value') ?? { field: 'your value' }) : 'your text';
}
