/** `holdfast/eino`: Eino's other forms: short handlers, middleware for chat and agentic messages, transfer by hand. */

export type { ClassicMiddleware, ToolCallMiddleware } from '../../kernel/define/classic-middleware';
export {
  eventSenderModelWrapper,
  eventSenderToolWrapper,
  withAfterModelRewriteHistory,
  withBeforeModelRewriteHistory,
  withInstruction,
  withInstructionFunc,
  withInvokableToolCallWrapper,
  withStreamableToolCallWrapper,
  withToolCallWrapper,
  withTools,
  withToolsFunc,
} from './handlers';

export { agenticMiddleware, chatMiddleware } from './shaped-middleware';
export { messagesIn, messagesOf } from '../../contract/messages/message-shapes';
export type { AgenticBlock, AgenticMessage } from '../../contract/messages/agentic-messages';
export type { ChatContent, ChatMessage, ChatPart, ChatToolCall } from '../../contract/messages/chat-messages';
export type { AnyMessage, MessageShape, MessageShapes } from '../../contract/messages/message-shapes';

export { setSubAgents, withDeterministicTransfer } from '../../kernel/define/define';
