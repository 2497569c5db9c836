import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const sessionPicture = 'docs/pictures/session.svg';

/** The commands below the picture in the README: those that were recorded. */
export function sessionCommands(root: string): readonly string[] {
  const [, below = ''] = readFileSync(join(root, 'README.md'), 'utf8').split(`](${sessionPicture})`);
  const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(below) ?? [];
  return commands.split('\n').filter((line) => line !== '');
}
