import { posix } from 'node:path';
import { messageOf } from '../../../contract/plain/errors';
import type { FileBackend } from '../../filesystem/worker/backend';
import { checkedPath, isFileMissing } from '../../filesystem/worker/backend';
import type { Skill, SkillHead } from '../skills';
import { frontmatterOf } from './frontmatter';

/** Where skills come from. */
export interface SkillBackend {
  list(): Promise<readonly SkillHead[]>;
  get(name: string): Promise<Skill>;
}

/** The skills in the folders of a folder: `SKILL.md` of each, and not those of folders below. One that is broken breaks all. */
export function skillFiles(backend: Pick<FileBackend, 'list' | 'read'>, baseDir: string): SkillBackend {
  const folder = checkedPath(baseDir);
  const all = async (): Promise<readonly Skill[]> => {
    const skills: Skill[] = [];
    for (const { path, kind } of await backend.list(folder)) {
      const text = kind === 'folder' ? await textOrNothing(backend, posix.join(path, 'SKILL.md')) : undefined;
      if (text !== undefined) skills.push(skillIn(path, text));
    }
    return skills;
  };
  return {
    list: async () => (await all()).map(({ content: _, baseDirectory: __, ...head }) => head),
    async get(name) {
      const skills = await all();
      const found = skills.find((skill) => skill.name === name);
      if (found !== undefined) return found;
      throw new Error(`There is no skill "${name}". There are: ${skills.map((skill) => skill.name).join(', ') || 'none'}.`);
    },
  };
}

function skillIn(baseDirectory: string, text: string): Skill {
  const path = posix.join(baseDirectory, 'SKILL.md');
  try {
    const { head, content } = frontmatterOf(text);
    const { name = '', description = '', context, agent, model } = head;
    if (name === '') throw new Error('it has no name.');
    return {
      name,
      description,
      ...(context === undefined ? {} : { context }),
      ...(agent === undefined ? {} : { agent }),
      ...(model === undefined ? {} : { model }),
      baseDirectory,
      content,
    };
  } catch (error) {
    throw new Error(`${path} holds no skill: ${messageOf(error)}`);
  }
}

async function textOrNothing(backend: Pick<FileBackend, 'read'>, path: string): Promise<string | undefined> {
  try {
    return await backend.read(path);
  } catch (error) {
    if (isFileMissing(error)) return undefined;
    throw error;
  }
}
