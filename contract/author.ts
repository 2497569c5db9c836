import type { Author, Signed } from './access';
import { isStrings } from './check';
import { defined } from './defined';
import { limits } from './limits';
import { canonicalJson } from './messages/messages';

type Given = Readonly<Partial<Record<keyof Author, unknown>>>;

const mostRoles = 100;

/** Anybody who reaches the server can send any value. A proof without a name proves nothing. */
export function authorOf({ by, proof }: Given): Signed {
  if (typeof by !== 'string') return {};
  return { by: by.slice(0, limits.starter), ...(isProof(proof) ? { proof } : {}) };
}

export function authorWithRoles(given: Given): Author {
  const { roles } = given;
  const known = isStrings(roles) ? roles.slice(0, mostRoles).map((role) => role.slice(0, limits.starter)) : undefined;
  return { ...authorOf(given), ...defined({ roles: known }) };
}

export function isSameAuthor(one: Author, other: Author): boolean {
  return canonicalJson({ ...one }) === canonicalJson({ ...other });
}

function isProof(proof: unknown): proof is string {
  return typeof proof === 'string' && proof !== '' && proof.length <= limits.proof;
}
