import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { complaintsOfDocuments } from '../../support/compiled-documents';

const root = resolve(__dirname, '..', '..', '..');
const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
  name.endsWith('.md') ? [`docs/${name}`] : [],
);

it('the code of every page compiles under the tsconfig that readers get', () => {
  const { count, complaints } = complaintsOfDocuments(['README.md', ...pages]);
  expect(complaints).toEqual([]);
  expect(count).toBeGreaterThan(100);
});
