import type { Json } from '../../contract/messages/messages';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';

/** Of an MCP server, which may attack: a check of the core alone ends soon. The server checks the other keywords. */
export function foreignSchema(jsonSchema: Json): { readonly jsonSchema: Json; readonly validate: (value: unknown) => unknown } {
  const validate = (value: unknown): unknown => {
    const misfits = misfitsOfSchema(jsonSchema, value as Json);
    return misfits.length === 0 ? { success: true, value } : { success: false, error: misfits.join('; ') };
  };
  return { jsonSchema, validate };
}
