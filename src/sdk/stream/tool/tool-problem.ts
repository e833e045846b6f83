import { isFields, oneLine } from 'sluice-kernel/internal';
import { fromJsonSchema } from '../../extension/index.js';
import { fixSchema } from './fix-schema.js';

/** Says in words why a value cannot be a tool of an agent; nothing if it can. */
export function toolProblem(given: unknown): string | undefined {
  if (!isFields(given)) return `it is ${given === null ? 'null' : `no object (${typeof given})`}`;
  const { name, description, inputSchema, execute, timeoutMs = 1 } = given;
  if (typeof name !== 'string' || !/^(?!mcp__)[\w-]{1,64}$/.test(name))
    return `its name ${oneLine(name)} is not 1 to 64 letters, digits, "_" and "-", or begins with "mcp__"`;
  if (typeof description !== 'string') return 'it has no description';
  if (typeof execute !== 'function') return 'it has no function "execute"';
  if (!(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs < 2 ** 31))
    return 'its timeoutMs must be more than 0';
  if (!isFields(inputSchema) || inputSchema['type'] !== 'object')
    return 'its input schema has not the type "object"';
  try {
    JSON.stringify(inputSchema);
    void fromJsonSchema(fixSchema(inputSchema).schema)['~standard'].validate({});
    return undefined;
  } catch (thrown) {
    return `its input schema cannot be used: ${oneLine(thrown)}`;
  }
}
