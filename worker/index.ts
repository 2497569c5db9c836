/** `holdfast/worker`: tools, models, worker middleware, and the worker that runs them. */

export { HoldfastWorker } from './create-worker';
export type { WorkerOptions } from './create-worker';
export { HoldfastPlugin, holdfastPlugin } from './plugin';
export type { PluginOptions } from './plugin';
export { bundleAgents } from './bundle/bundle';
export { BundleStore } from './bundle/bundle-store';
export type { WorkflowBundle } from './bundle/bundle';

export { defineTool } from '../activities/tools/tools';
export type {
  CallPrincipal,
  EnhancedTool,
  ExternalTool,
  Reconciled,
  StreamableTool,
  Tool,
  ToolCallContext,
} from '../activities/tools/define-tool';
export type { ToolSpec } from '../contract/manifest';
export { currentCall } from '../activities/calls/call-context';
export { deleteRunLocalValue, getRunLocalValue, sendEvent, setRunLocalValue } from '../activities/calls/run-functions';
export type { CallContext } from '../activities/calls/call-context';
export type { GenerateAnswer, GenerateRequest, LanguageModel, ModelProvider, ModelChunk } from '../activities/models/language-model';
export type { ModelsOptions } from '../activities/models/models';
export { answerOfChunks } from '../activities/models/chunks';
export { aiSdkModel } from '../activities/models/providers/ai-sdk';

export { defineWorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
export type {
  WorkerWraps,
  WorkerMiddleware,
  WorkerModelRequest,
  WorkerModelResponse,
} from '../activities/worker-middleware/worker-middleware';
export { StopError } from '../kernel/effects/errors';
export type { Observed, ObservedEnd, ObservedError, Observer } from '../contract/observed';

export { cachedResponses } from '../middleware/response-cache/worker';
export { directoryResponses, memoryResponses } from '../middleware/response-cache/worker/stores';
export type { CachedResponse, ResponseStore } from '../middleware/response-cache/worker/stores';
export { directoryOffload, offloadTools, reductionOnWorker } from '../middleware/reduction/worker';
export type { OffloadBackend } from '../middleware/reduction/worker';
export { fileTools } from '../middleware/filesystem/worker';
export type { FileTool, FileTools } from '../middleware/filesystem/worker';
export type { FileToolSettings } from '../middleware/filesystem/file-tool-names';
export type { FileBackend, FileEntry } from '../middleware/filesystem/worker/backend';
export { directoryBackend } from '../middleware/filesystem/worker/directory-backend';
export { largeResults } from '../middleware/filesystem/worker/large-results';
export { memoryBackend } from '../middleware/filesystem/worker/memory-backend';
export type { MemoryBackend } from '../middleware/filesystem/worker/memory-backend';
export { directoryShell } from '../middleware/filesystem/worker/shell';
export type { Shell, StreamingShell } from '../middleware/filesystem/worker/shell';
export { agentsMdTool } from '../middleware/agents-md/worker';
export { taskTools } from '../middleware/plan-task/worker';
export { skillFilesTool } from '../middleware/skill/worker';
export { skillFiles } from '../middleware/skill/worker/skill-files';
export type { SkillBackend } from '../middleware/skill/worker/skill-files';
export type { Skill, SkillHead } from '../middleware/skill/skills';
export { toolSearchTool } from '../middleware/tool-search/worker';

export type { Json, Message, ModelSettings, Part, Usage } from '../contract/messages/messages';
export { messagesIn, messagesOf } from '../contract/messages/message-shapes';
export type { AgenticMessage } from '../contract/messages/agentic-messages';
export type { ChatMessage } from '../contract/messages/chat-messages';
