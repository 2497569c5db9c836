export const transferTool = 'transfer_to_agent';
/** By which an agent ends, where it is told to have it. */
export const exitTool = 'exit';

export function transferResult(agent: string): string {
  return `successfully transferred to agent [${agent}]`;
}
