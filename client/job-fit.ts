import { HoldfastError } from '../contract/errors';
import type { Json } from '../contract/messages/messages';
import { problemOfJob } from '../contract/schema/job-schema';
import { misfitsOfSchema } from '../contract/schema/schema-fit';
import { wholeMisfit } from './whole-misfit';

/** The run itself checks only the core of JSON Schema. */
export function checkJob(agent: string, schema: Json, job: Json): void {
  const problem = problemOfJob(agent, schema, job, (whole, value) => {
    const misfits = misfitsOfSchema(whole, value);
    return misfits.length === 0 ? wholeMisfit(whole as Json, value, 'input') : misfits.join('; ');
  });
  if (problem !== undefined) throw new HoldfastError('input-invalid', problem);
}
