import type { PluginOptions } from 'holdfast/worker';
import { holdfastPlugin } from 'holdfast/worker';
import { codeOf, messageOf } from '../../../contract/errors';

function refusalOf(options: object): string {
  try {
    holdfastPlugin(options as PluginOptions);
    return 'nothing was refused';
  } catch (error) {
    return `${String(codeOf(error))}: ${messageOf(error)}`;
  }
}

it.each<[string, object, RegExp]>([
  ['cannot be used', { agents: 'x.ts', tools: [] }, /^config-invalid: holdfastPlugin: tools must be an object with tools by their names/],
  ['are missing', { tools: {} }, /^config-invalid: holdfastPlugin: agents must be the path of the module/],
  ['belong to the worker', { agents: 'x.ts', tools: {}, taskQueue: 'q' }, /^config-invalid: .*"taskQueue".*agents, tools, /],
  ['are no storage', { agents: 'x.ts', tools: {}, storage: 'disk' }, /^config-invalid: storage must be a storage driver/],
])('the plugin for Temporal workers refuses options that %s', (_, options, refusal) => {
  expect(refusalOf(options)).toMatch(refusal);
});
