import type { AgentMiddleware } from './middleware';

export const senderMark = Symbol.for('holdfast.event-sender');

export type Sent = 'model' | 'tool';

export function isEventSender(middleware: AgentMiddleware, sent: Sent): boolean {
  return (middleware as unknown as Record<symbol, unknown>)[senderMark] === sent;
}
