import { HoldfastError } from '../contract/errors';
import type { Json } from '../contract/messages/messages';
import { problemOfJob } from '../contract/schema/job-schema';
import { wholeMisfit } from './whole-misfit';

/** Refuses a job before its run begins, where the schema of the agent is known. The run itself checks it by the core of JSON Schema. */
export function checkJob(agent: string, schema: Json, job: Json): void {
  const problem = problemOfJob(agent, schema, job, (whole, value) => wholeMisfit(whole as Json, value, 'input'));
  if (problem !== undefined) throw new HoldfastError('input-invalid', problem);
}
