export { HoldfastWorker } from './create-worker';
export type { WorkerOptions } from './create-worker';
export { BundleStore, bundleAgents } from './bundle';
export type { WorkflowBundle } from './bundle';
export { defineTool } from '../activities/tools';
export type { Reconciled, Tool, ToolCallContext, ToolSpec } from '../activities/tools';
export { defineWorkerMiddleware } from '../activities/worker-middleware';
export type {
  RunAccess,
  ToolWorkerCall,
  WorkerCall,
  WorkerHalf,
  WorkerMiddleware,
  WorkerModelRequest,
  WorkerModelResponse,
} from '../activities/worker-middleware';
export { currentCall } from '../activities/call-context';
export { deleteRunLocalValue, getRunLocalValue, sendEvent, setRunLocalValue } from '../activities/run-functions';
export type { CallContext } from '../activities/call-context';
export type { GenerateAnswer, GenerateRequest, LanguageModel, ModelProvider, ModelsOptions } from '../activities/models';
export { aiSdkModel } from '../activities/providers/ai-sdk';
