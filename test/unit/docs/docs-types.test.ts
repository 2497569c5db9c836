import { complaintsOfDocuments } from '../../support/compiled-documents';
import { docPages } from '../../support/doc-pages';

it('the code of every page compiles under the tsconfig that readers get', () => {
  const { count, complaints } = complaintsOfDocuments(['README.md', ...docPages]);
  expect(complaints).toEqual([]);
  expect(count).toBeGreaterThan(100);
});
