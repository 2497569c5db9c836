export const transferTool = 'transfer_to_agent';
export const exitTool = 'exit';

export function transferResult(agent: string): string {
  return `successfully transferred to agent [${agent}]`;
}
