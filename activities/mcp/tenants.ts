import { withoutCredentials } from '../../contract/credentials';
import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import { cut } from '../../contract/shown';
import { inTime } from '../calls/in-time';
import type { McpServerOptions } from './options';
import { accessProblem } from './options';

const patienceMs = 20_000;

interface OneServer {
  readonly name: string;
  readonly options: McpServerOptions;
  readonly tenant?: string | undefined;
}

export async function optionsFor({ name, options, tenant = '' }: OneServer): Promise<McpServerOptions> {
  if (options.forTenant === undefined) return options;
  const { forTenant, ...shared } = options;
  const asked = `\`mcp.${name}.forTenant\``;
  const given = await inTime(Promise.resolve(tenant).then(forTenant), patienceMs, () => {
    throw new Error(`It gave nothing within ${patienceMs / 1000} s.`);
  }).catch((error: unknown) => {
    const said = cut(withoutCredentials(messageOf(error)));
    throw new HoldfastError('mcp-unreachable', `${asked} failed for the tenant "${tenant}": ${said}`, { cause: error });
  });
  if (given === undefined) throw new HoldfastError('mcp-forbidden', `${asked} gives nothing for the tenant "${tenant}".`);
  const problem = accessProblem(given);
  if (problem !== undefined) throw new HoldfastError('config-invalid', `${asked} gave for the tenant "${tenant}": ${problem}.`);
  const { headers, oauth = shared.oauth } = given;
  return { ...shared, headers: { ...shared.headers, ...headers }, ...defined({ oauth }) };
}
