import { ModelRegistry } from '../../../activities/models/models';
import { missingModels } from '../../../cli/processes/default-model';
import type { HoldfastWorker } from '../../../worker/create-worker';

it('a start says which models lack a key, beside `default`', () => {
  const models = new ModelRegistry(
    { demo: true, names: { smart: ['openai/gpt-5-mini', 'anthropic/x'], cheap: 'google/x' } },
    { GOOGLE_GENERATIVE_AI_API_KEY: 'k' },
  );
  const worker = { parts: { models } } as unknown as HoldfastWorker;
  expect(missingModels(worker, ['default', 'smart', 'cheap', 'openai/gpt-5-mini', 'replaced'])).toEqual([
    expect.stringMatching(/^smart → none \(.*OPENAI_API_KEY.*ANTHROPIC_API_KEY/),
    expect.stringMatching(/^openai\/gpt-5-mini → none \(.*OPENAI_API_KEY/),
  ]);
});
