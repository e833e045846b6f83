type Fields = Readonly<Record<string, unknown>>;

/** A tool of an MCP server, as far as it is used. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Fields;
  /** Of any kind: a result that does not fit it has a note. */
  readonly outputSchema: unknown;
  /** Of all that a model gets of it, about. */
  readonly bytes: number;
}

/** Tools of one server, their bytes, and the bytes of a request around the fields of a tool. */
const [maxTools, maxBytes, aroundBytes] = [500, 262_144, 100];

/** The list of a server, read tool by tool: what is wrong with one loses no other. */
export class McpList {
  readonly tools: McpTool[] = [];
  /** By the name of a tool that is left out: the path of its field, and the fault. */
  readonly leftOut = new Map<string, string>();
  bytes = 0;

  /** @throws if there is no list in the page. @returns the cursor of the next one. */
  add(page: unknown, allow: readonly string[] | undefined): string | undefined {
    const { tools, nextCursor } = Object(page) as Fields;
    if (!Array.isArray(tools ?? [])) throw new Error('"tools" of its answer is no list');
    for (const one of (tools ?? []) as readonly unknown[]) {
      const { name } = Object(one) as Fields;
      if (allow?.includes(name as string) === false) continue; // one that is no text is in no list
      const problem = this.#read(one);
      if (problem !== undefined && this.leftOut.size < maxTools)
        this.leftOut.set(shown(name), problem);
    }
    return typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
  }

  /** Takes a tool. A field that is wrong is left out if a tool can do without it. @returns why the tool is left out. */
  #read(given: unknown): string | undefined {
    const { name, title, outputSchema, ...rest } = Object(given) as Fields;
    const { inputSchema: schema, execution } = rest;
    if (typeof name !== 'string' || name === '') return `name is ${shown(name)}`;
    if (typeof (schema ?? {}) !== 'object' || Array.isArray(schema))
      return `inputSchema is ${shown(schema)}`;
    const { type } = Object(schema) as Fields;
    if (![type ?? 'object'].flat().includes('object')) return `inputSchema.type is ${shown(type)}`;
    if (Object(execution).taskSupport === 'required')
      return 'execution.taskSupport is "required", and tasks are not spoken';
    if (this.tools.some((one) => one.name === name)) return 'name is that of another tool';
    if (this.tools.length >= maxTools) return `a server may have ${maxTools} tools`;
    const description = [rest['description'], title, name].find((one) => typeof one === 'string');
    const inputSchema = { ...Object(schema), type: 'object' };
    const tool = { name, description: String(description), inputSchema };
    let bytes = aroundBytes;
    try {
      bytes += Buffer.byteLength(JSON.stringify(tool));
    } catch {
      return 'inputSchema is too deep';
    }
    if (this.bytes + bytes > maxBytes)
      return `description and inputSchema have ${bytes} bytes; all of a server may have ${maxBytes}`;
    this.bytes += bytes;
    this.tools.push({ ...tool, bytes, outputSchema });
    return undefined;
  }
}

/** A value of a server in a few letters. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : 'an object';
  return value === undefined
    ? 'missing'
    : String(value).replace(/\p{C}/gu, ' ').slice(0, 64) || '""';
}
