import type { ServedTool } from '../../http/index';
import { serviceTexts } from '../texts/service';

/** The effect of a tool. A tool without a declared effect has the effect `none`. */
export function effectOf({ effect }: Pick<ServedTool, 'effect'>) {
  const { effectTitles, notDeclared } = serviceTexts;
  return { text: effect ?? notDeclared, title: effectTitles[effect ?? 'none'], kind: effect === 'once' ? 'warn' : 'calm' } as const;
}
