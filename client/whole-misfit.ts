import type { Json } from '../contract/messages/messages';
import type { JsonSchemaCheck } from '../host/json-schema';
import { compiledJsonSchema, issueList } from '../host/json-schema';

/** Where a value does not fit a JSON Schema, by all of its keywords; or nothing. `root` is how a misfit calls the value itself. */
export function wholeMisfit(json: Json, value: Json, root: string): string | undefined {
  const issues = issuesOf(checkOf(json), JSON.parse(JSON.stringify(value)) as Json);
  return issues.length === 0 ? undefined : issueList(issues, root);
}

/** Of schemas that were asked for lately, by their text. */
const checks = new Map<string, JsonSchemaCheck>();
const mostChecks = 200;

/** Says nothing for a schema that cannot be read: then the code that asked has to look at the value itself. */
function checkOf(schema: Json): JsonSchemaCheck {
  const text = JSON.stringify(schema);
  const kept = checks.get(text);
  if (kept !== undefined) return kept;
  if (checks.size >= mostChecks) checks.clear();
  const check = readCheck(schema);
  checks.set(text, check);
  return check;
}

function readCheck(schema: Json): JsonSchemaCheck {
  const refuse = (problem: string): never => {
    throw new Error(problem);
  };
  try {
    // A draft that is named wrongly, or an older one, does not matter to most schemas.
    const { $schema: _, ...rest } = schema as { readonly [keyword: string]: Json };
    return compiledJsonSchema(typeof schema === 'boolean' ? schema : rest, refuse, true);
  } catch {
    return () => [];
  }
}

/** Nothing for a schema that leads back to itself without end: the run, which knows how to read such a one, decides alone. */
function issuesOf(check: JsonSchemaCheck, value: Json): ReturnType<JsonSchemaCheck> {
  try {
    return check(value);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}
