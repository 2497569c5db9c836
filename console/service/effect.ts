import type { ServedTool } from '../../client/http/index';
import { serviceTexts } from '../texts/service';

export function effectOf({ effect }: Pick<ServedTool, 'effect'>) {
  const { effectTitles, notDeclared } = serviceTexts;
  return { text: effect ?? notDeclared, title: effectTitles[effect ?? 'none'], kind: effect === 'once' ? 'warn' : 'calm' } as const;
}
