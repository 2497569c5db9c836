import { agentsFor } from '../../workflows/index';

export const { defineAgent } = agentsFor();

export type Options = Partial<Omit<Parameters<typeof defineAgent>[0], 'output' | 'inputSchema'>>;

export function member<const Name extends string>(name: Name, options: Options = {}) {
  return defineAgent<Name>({
    description: `The ${name}.`,
    instructions: `You are the ${name}.`,
    model: 'test/model',
    tools: [],
    ...options,
    name,
  });
}
