import type { ConnectionLike } from '@temporalio/client';
import { HoldfastError } from '../contract/errors';
import { searchAttributes } from '../contract/names';
import { addressFlag, addressOf } from './server-address';

/** `temporal.api.enums.v1.IndexedValueType`. */
export const indexedValueTypes = { Text: 1, Keyword: 2, Int: 3, Double: 4, Bool: 5, Datetime: 6, KeywordList: 7 } as const;

const grpcInvalidArgument = 3;

/** Throws 'search-attribute-missing' with the registering command. */
export async function checkSearchAttributes(connection: ConnectionLike, namespace: string): Promise<void> {
  const registered = await registeredTypes(connection, namespace);
  const missing: string[] = [];
  for (const [name, type] of Object.entries(searchAttributes)) {
    const found = registered === undefined ? await isQueryable(connection, namespace, name) : registered[name];
    if (found === undefined || found === false) missing.push(name);
    else if (typeof found === 'number' && found !== indexedValueTypes[type]) throw wrongType(name, found, type, namespace);
  }
  if (missing.length === 0) return;
  const command = createCommand(missing, namespace, connection);
  throw new HoldfastError(
    'search-attribute-missing',
    `Namespace '${namespace}' lacks the search attributes ${missing.join(', ')}. Register them with: ${command}`,
    {
      details: { missing, command },
    },
  );
}

/** Undefined: the server does not tell, as Temporal Cloud may. */
async function registeredTypes(connection: ConnectionLike, namespace: string): Promise<Record<string, number> | undefined> {
  try {
    const listed = await connection.operatorService.listSearchAttributes({ namespace });
    return listed.customAttributes;
  } catch (error) {
    if (isNamespaceMissing(error)) throw namespaceUnknown(connection, namespace, error);
    return undefined;
  }
}

/** Every server refuses queries for an unknown attribute. */
async function isQueryable(connection: ConnectionLike, namespace: string, name: string): Promise<boolean> {
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query: `${name} = 'none'` });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === grpcInvalidArgument) return false;
    throw error;
  }
}

function createCommand(missing: readonly string[], namespace: string, connection: ConnectionLike): string {
  const pairs = missing.map((name) => `--name ${name} --type ${searchAttributes[name as keyof typeof searchAttributes]}`);
  return `temporal operator search-attribute create${addressFlag(connection)} --namespace ${namespace} ${pairs.join(' ')}`;
}

function wrongType(name: string, found: number, wanted: string, namespace: string): HoldfastError {
  const foundName = Object.entries(indexedValueTypes).find(([, number]) => number === found)?.[0] ?? String(found);
  return new HoldfastError(
    'search-attribute-missing',
    `The search attribute ${name} of namespace '${namespace}' has the type ${foundName} and must have ${wanted}. Use another namespace, or remove it and register it again.`,
  );
}

export function isNamespaceMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === 5;
}

function namespaceUnknown(connection: ConnectionLike, namespace: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'server-unreachable',
    `The server at ${addressOf(connection)} has no namespace '${namespace}'. Correct TEMPORAL_NAMESPACE or create it: temporal operator namespace create${addressFlag(connection)} --namespace ${namespace} --retention 30d`,
    { cause },
  );
}
