import type { Chain, Phase } from './chain';
import { thawed } from './invocation';
import type { Place, Places } from './types';

export type ChainAt<At extends Place> = Chain<Places[At][0], Places[At][1]>;

export const phases: { readonly [At in Place]: Phase<Places[At][0], Places[At][1]> } = {
  beforeAgent: { name: 'before agent', custom: 'customResponse' },
  afterAgent: { name: 'after agent', custom: 'customResponse' },
  beforeModel: { name: 'before model', custom: 'customResponse' },
  afterModel: { name: 'after model', custom: 'customResponse' },
  beforeTool: {
    name: 'before tool',
    custom: 'customResult',
    keepsResultOfError: true,
    adopt(args, { modifiedArguments }) {
      if (modifiedArguments !== undefined) args.arguments = thawed(modifiedArguments);
    },
  },
  afterTool: { name: 'after tool', custom: 'customResult', keepsResultOfError: true, keepsEmpty: true, sticky: ['skipSummarization'] },
};
