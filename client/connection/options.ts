import type { Forms } from '../../contract/check';
import { isRecord, problemOfKnown, refusing, sentence } from '../../contract/check';
import { shown } from '../../contract/shown';

export function optionsOf<Options extends object>(options: Options, what: string, forms: Forms = {}): Options {
  const refuse = refusing(what, 'request-invalid');
  if (!isRecord(options)) return refuse(`the options must be an object, not ${shown(options)}.`);
  const problem = problemOfKnown(options, forms, (option) => option);
  if (problem !== undefined) refuse(sentence(problem));
  return options;
}
