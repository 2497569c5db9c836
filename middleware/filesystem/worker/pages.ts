import type { PageRange } from './backend';

const mostPages = 20;

/** Reads pages as a model writes them: `3` or `1-10`. */
export function parsePages(text: string): PageRange | { readonly problem: string } {
  const found = /^\s*([1-9]\d{0,5})(?:\s*-\s*([1-9]\d{0,5}))?\s*$/.exec(text);
  if (found === null)
    return { problem: `Invalid pages "${text}": write one page such as "3", or a range such as "1-10". Pages count from 1.` };
  const first = Number(found[1]);
  const last = Number(found[2] ?? found[1]);
  if (last < first) return { problem: `Invalid pages "${text}": the last page is before the first.` };
  if (last - first + 1 > mostPages)
    return { problem: `Invalid pages "${text}": at most ${mostPages} pages are read at once, and these are ${last - first + 1}.` };
  return { first, last };
}
