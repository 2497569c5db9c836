export const transferTool = 'transfer_to_agent';

export function transferResult(agent: string): string {
  return `successfully transferred to agent [${agent}]`;
}
