/** `holdfast/worker`: tools, models, worker middleware, and the worker that runs them. */

// The worker
export { HoldfastWorker } from './create-worker';
export type { TakeOver, WorkerOptions } from './create-worker';
export { HoldfastPlugin, holdfastPlugin } from './plugin';
export type { PluginOptions } from './plugin';
export { bundleAgents } from './bundle';
export { BundleStore } from './bundle-store';
export type { WorkflowBundle } from './bundle';

// Tools and models
export { defineTool } from '../activities/tools/tools';
export type { EnhancedTool, ExternalTool, Reconciled, StreamableTool, Tool, ToolCallContext, ToolSpec } from '../activities/tools/tools';
export { currentCall } from '../activities/calls/call-context';
export { deleteRunLocalValue, getRunLocalValue, sendEvent, setRunLocalValue } from '../activities/calls/run-functions';
export type { CallContext } from '../activities/calls/call-context';
export type { GenerateAnswer, GenerateRequest, LanguageModel, ModelProvider, ModelsOptions } from '../activities/models/models';
export { answerOfChunks } from '../activities/models/chunks';
export type { ModelChunk } from '../activities/models/chunks';
export { aiSdkModel } from '../activities/models/providers/ai-sdk';
export type { AiSdkOptions } from '../activities/models/providers/ai-sdk';

// Worker middleware and observers
export { defineWorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
export type {
  RunAccess,
  ToolNext,
  ToolWorkerCall,
  WorkerCall,
  WorkerWraps,
  WorkerMiddleware,
  WorkerModelRequest,
  WorkerModelResponse,
} from '../activities/worker-middleware/worker-middleware';
export { StopError } from '../kernel/effects/errors';
export type { RequestSlots } from '../contract/record/wire';
export type { Observed, ObservedEnd, ObservedError, Observer } from '../contract/observed';

// Worker tools and stores of the built-in middleware
export { cachedResponses } from '../middleware/response-cache/worker';
export type { CachedResponsesOptions } from '../middleware/response-cache/worker';
export { directoryResponses, memoryResponses } from '../middleware/response-cache/worker/stores';
export type { CachedResponse, ResponseStore } from '../middleware/response-cache/worker/stores';
export { directoryOffload, offloadTools, reductionOnWorker } from '../middleware/reduction/worker';
export type { LongResult, OffloadBackend, ReductionOnWorkerOptions, TruncatedResult } from '../middleware/reduction/worker';
export { fileTools } from '../middleware/filesystem/worker';
export type { FileTool, FileTools, FileToolsOptions } from '../middleware/filesystem/worker';
export type { FileToolSetting, FileToolSettings } from '../middleware/filesystem/file-tool-names';
export type { FileBackend, FileEntry, PageRange } from '../middleware/filesystem/worker/backend';
export { directoryBackend } from '../middleware/filesystem/worker/directory-backend';
export type { DirectoryBackendOptions } from '../middleware/filesystem/worker/directory-backend';
export { largeResults } from '../middleware/filesystem/worker/large-results';
export type { LargeResultsOptions } from '../middleware/filesystem/worker/large-results';
export { memoryBackend } from '../middleware/filesystem/worker/memory-backend';
export type { MemoryBackend } from '../middleware/filesystem/worker/memory-backend';
export { directoryShell } from '../middleware/filesystem/worker/shell';
export type { CommandPiece, CommandResult, DirectoryShellOptions, Shell, StreamingShell } from '../middleware/filesystem/worker/shell';
export { agentsMdTool } from '../middleware/agents-md/worker';
export type { AgentsMdToolOptions } from '../middleware/agents-md/worker';
export { taskTools } from '../middleware/plan-task/worker';
export type { TaskToolsOptions } from '../middleware/plan-task/worker';
export { skillFilesTool } from '../middleware/skill/worker';
export type { SkillToolOptions } from '../middleware/skill/worker';
export { skillFiles } from '../middleware/skill/worker/skill-files';
export type { SkillBackend } from '../middleware/skill/worker/skill-files';
export type { Skill, SkillHead } from '../middleware/skill/skills';
export { toolSearchTool } from '../middleware/tool-search/worker';

// Messages
export type { FinishReason, Json, Message, ModelSettings, Part, Usage } from '../contract/messages/messages';
export { messagesIn, messagesOf } from '../contract/messages/message-shapes';
export type { AgenticBlock, AgenticMessage } from '../contract/messages/agentic-messages';
export type { ChatContent, ChatMessage, ChatPart, ChatToolCall } from '../contract/messages/chat-messages';
export type { AnyMessage, MessageShape, MessageShapes } from '../contract/messages/message-shapes';
export type { ProviderPart } from '../contract/messages/provider-parts';
