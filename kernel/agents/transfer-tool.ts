import type { Language } from '../../contract/manifest';
import { parsedBy } from '../define/workflow-tools';
import type { AnyAgent, OwnTool, AgentDefinition } from '../define/definition';
import { transferResult, transferTool } from '../define/transfer-names';

export function withTransfers(
  agent: AgentDefinition,
  children: readonly AnyAgent[],
  parent: AnyAgent | undefined,
  language: Language,
): AgentDefinition {
  const targets = [...children, ...(parent === undefined ? [] : [parent])];
  if (targets.length === 0) return agent;
  const told = instruction(targets, parent, language);
  return {
    ...agent,
    instructions: [agent.instructions, told].filter((text) => text !== '').join('\n\n'),
    tools: [...agent.tools, transferTool],
    returnDirectly: [...agent.returnDirectly, transferTool],
    ownTools: new Map([...agent.ownTools, [transferTool, toolFor(language)]]),
  };
}

function toolFor(language: Language): OwnTool {
  const spec = {
    name: transferTool,
    description:
      language === 'zh' ? '把对话交给另一个代理继续处理。' : 'Hands the conversation over to another agent, which goes on with it.',
    inputSchema: {
      type: 'object',
      properties: {
        agent_name: {
          type: 'string',
          description: language === 'zh' ? '接手的代理的名称。' : 'The name of the agent that goes on.',
        },
      },
      required: ['agent_name'],
      additionalProperties: false,
    },
  };
  return {
    spec,
    parse: (input) => parsedBy(spec, input),
    run: ({ call: { input }, frame }) => {
      const name = (input as { readonly agent_name: string }).agent_name;
      frame.decision?.act({ transferTo: name });
      return Promise.resolve(transferResult(name));
    },
  };
}

function instruction(targets: readonly AnyAgent[], parent: AnyAgent | undefined, language: Language): string {
  const list = targets.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  if (language === 'zh') {
    const back = parent === undefined ? '' : `如果都不合适，请交还给 ${parent.name}。`;
    return `你可以把对话交给以下代理：\n${list}\n\n如果其中一个更适合回答，请只调用工具 ${transferTool}，不要同时输出其他内容。${back}否则请自己回答。`;
  }
  const back = parent === undefined ? '' : ` If none of them suits and you cannot answer yourself, hand over to ${parent.name}.`;
  return (
    `You can hand the conversation over to one of these agents:\n${list}\n\n` +
    `If one of them is better suited to answer than you, call the tool ${transferTool} with its name, and say nothing else.${back} Otherwise answer yourself.`
  );
}
