import type { ServedTool } from '../../http/index';
import { serviceTexts } from '../texts/service';

/** What becomes of a lost call of a tool. One that declares no effect has none. */
export function effectOf({ effect }: Pick<ServedTool, 'effect'>) {
  const { effectTitles, notDeclared } = serviceTexts;
  return { text: effect ?? notDeclared, title: effectTitles[effect ?? 'none'], kind: effect === 'once' ? 'warn' : 'calm' } as const;
}
