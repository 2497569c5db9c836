export const transferTool = 'transfer_to_agent';
/** The tool that ends an agent with `exitTool`. */
export const exitTool = 'exit';

export function transferResult(agent: string): string {
  return `successfully transferred to agent [${agent}]`;
}
