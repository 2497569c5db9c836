import { scriptedModel } from 'holdfast/testing';
import type { ScriptedStep } from 'holdfast/testing';
import { ModelRegistry } from '../../activities/models/models';
import { defaultModelFacts } from '../../activities/parts';
import { OutputRegistry } from '../../activities/schemas/outputs';
import { ToolRegistry, defaultToolFacts } from '../../activities/tools/tools';
import { WorkerMiddlewareRegistry } from '../../activities/worker-middleware/worker-middleware';
import { memoryWork } from '../../testing/memory-work';
import { tools } from './memory-bed';

/** The work of a run in memory that has the usual tools, and a model that says what the script says. */
export function scriptedWork(script: readonly ScriptedStep[]): ReturnType<typeof memoryWork> {
  return memoryWork(
    {
      tools: new ToolRegistry(tools),
      models: new ModelRegistry({ providers: { test: scriptedModel(script) } }),
      middleware: new WorkerMiddlewareRegistry([]),
      outputs: new OutputRegistry({}),
      language: 'en',
      toolDefaults: defaultToolFacts,
      modelFacts: defaultModelFacts,
    },
    () => undefined,
  );
}
