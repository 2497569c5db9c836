import { defineConfig } from 'holdfast';
import type { ProjectConfig } from 'holdfast';
import { tools } from './tools';

type Provider = NonNullable<NonNullable<ProjectConfig['models']>['providers']>[string];
type Generate = Awaited<ReturnType<Provider['model']>>['generate'];

interface DeskScript {
  readonly say?: string;
  readonly calls: readonly { readonly name: string; readonly input: object }[];
}

const generate: Generate = ({ messages }) => {
  const at = messages.map(({ role }) => role).lastIndexOf('user');
  const text = (messages[at]?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
  const usage = { inputTokens: 10, outputTokens: 5 };
  if (messages.slice(at).some(({ role }) => role === 'assistant'))
    return Promise.resolve({ parts: [{ type: 'text', text: 'Done.' }], usage });
  const { say, calls } = JSON.parse(text) as DeskScript;
  const parts = calls.map(({ name, input }, nth) => ({ type: 'tool-call' as const, id: `call-${nth}`, name, input: input as never }));
  return Promise.resolve({ parts: [...(say === undefined ? [] : [{ type: 'text' as const, text: say }]), ...parts], usage });
};

export default defineConfig({
  agents: './agents.ts',
  tools,
  models: { providers: { script: { model: () => ({ generate }) } } },
});
