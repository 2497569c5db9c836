import type { Json } from '../../contract/messages/messages';
import type { JsonSchemaCheck } from '../../host/json-schema';
import { compiledJsonSchema, issueList } from '../../host/json-schema';
import { HoldfastError } from '../../contract/errors';
import { problemOfJob } from '../../contract/schema/job-schema';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';

/** Checks all keywords. `root` names the value in the text. */
export function wholeMisfit(json: Json, value: Json, root: string): string | undefined {
  const issues = issuesOf(checkOf(json), JSON.parse(JSON.stringify(value)) as Json);
  return issues.length === 0 ? undefined : issueList(issues, root);
}

const checks = new Map<string, JsonSchemaCheck>();
const mostChecks = 200;

/** An unreadable schema accepts any value, which the asking code checks. */
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
    // Most schemas do not depend on their draft, which may be old or misnamed.
    const { $schema: _, ...rest } = schema as { readonly [keyword: string]: Json };
    return compiledJsonSchema(typeof schema === 'boolean' ? schema : rest, refuse, true);
  } catch {
    return () => [];
  }
}

/** An endless schema accepts any value here, because the run can read it. */
function issuesOf(check: JsonSchemaCheck, value: Json): ReturnType<JsonSchemaCheck> {
  try {
    return check(value);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** The run itself checks only the core of JSON Schema. */
export function checkJob(agent: string, schema: Json, job: Json): void {
  const problem = problemOfJob(agent, schema, job, (whole, value) => {
    const misfits = misfitsOfSchema(whole, value);
    return misfits.length === 0 ? wholeMisfit(whole as Json, value, 'input') : misfits.join('; ');
  });
  if (problem !== undefined) throw new HoldfastError('input-invalid', problem);
}
