import { scriptedModel } from 'holdfast/testing';
import type { ScriptedStep } from 'holdfast/testing';
import { ModelRegistry } from '../../activities/models/models';
import { defaultModelFacts } from '../../activities/parts';
import { OutputRegistry } from '../../activities/schemas/outputs';
import { ToolRegistry, defaultToolFacts } from '../../activities/tools/tools';
import { WorkerMiddlewareRegistry } from '../../activities/worker-middleware/worker-middleware';
import { memoryWork } from '../../testing/memory-work';
import { tools } from './memory-bed';

export function scriptedWork(
  script: readonly ScriptedStep[],
  own: ConstructorParameters<typeof ToolRegistry>[0] = tools,
): ReturnType<typeof memoryWork> {
  return memoryWork(
    {
      tools: new ToolRegistry(own),
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

export const memoryStart = {
  ...{ version: 1 as const, tenant: 'default', id: 'run', agent: 'agent', input: 'Hi', values: {} },
  ...{ stream: false, options: {}, tags: [] },
};
