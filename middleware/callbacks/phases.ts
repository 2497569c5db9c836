import type { Phase } from './chain';
import { thawed } from './thawed';
import type {
  AfterAgentArgs,
  AfterAgentResult,
  AfterModelArgs,
  AfterModelResult,
  AfterToolArgs,
  AfterToolResult,
  BeforeAgentArgs,
  BeforeAgentResult,
  BeforeModelArgs,
  BeforeModelResult,
  BeforeToolArgs,
  BeforeToolResult,
} from './types';

export const beforeModel: Phase<BeforeModelArgs, BeforeModelResult> = { name: 'before model', custom: 'customResponse' };
export const afterModel: Phase<AfterModelArgs, AfterModelResult> = { name: 'after model', custom: 'customResponse' };

export const beforeTool: Phase<BeforeToolArgs, BeforeToolResult> = {
  name: 'before tool',
  custom: 'customResult',
  keepsResultOfError: true,
  adopt(args, { modifiedArguments }) {
    if (modifiedArguments !== undefined) args.arguments = thawed(modifiedArguments);
  },
};
export const afterTool: Phase<AfterToolArgs, AfterToolResult> = {
  name: 'after tool',
  custom: 'customResult',
  keepsResultOfError: true,
  keepsEmpty: true,
  sticky: ['skipSummarization'],
};

export const beforeAgent: Phase<BeforeAgentArgs, BeforeAgentResult> = { name: 'before agent', custom: 'customResponse' };
export const afterAgent: Phase<AfterAgentArgs, AfterAgentResult> = { name: 'after agent', custom: 'customResponse' };
