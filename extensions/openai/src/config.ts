import { z } from 'zod';

const ms = z.int('must be a whole number of milliseconds').min(1).max(2_147_483_647);
const count = z.int('must be a whole number').min(1);

/** The address before `/chat/completions`. */
const url = z
  .url({ protocol: /^https?$/, error: 'must be an http address' })
  .regex(/^\w+:\/\/[^@/?#]+([/?#]|$)/, 'must be an address without a name and a password in it')
  .transform((text) => text.replace(/\/*(\/chat\/completions)?\/*(?=\?|$)/, ''));

const usual = {
  url: 'https://api.openai.com/v1',
  headers: {},
  body: {},
  contextTokens: 64_000,
  compaction: 'summary' as const,
  maxResultChars: 50_000,
  maxRounds: 50,
  images: true,
  returnReasoning: false,
  idleTimeoutMs: 120_000,
  maxAnswerBytes: 16_777_216,
  attempts: 3,
};

/** The address in `MODEL@URL`. */
function addressIn(text: string): string | undefined {
  return /.@(https?:.*)$/.exec(text)?.[1];
}

/** The settings of an agent. Those at the top of the config hold for all agents that do not say otherwise. */
const common = {
  url: url.exactOptional(),
  /** In a config file the name of a secret, never the key itself. */
  apiKey: z.string().min(1).exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  /** Further fields of each request; `null` takes one away. */
  body: z.record(z.string(), z.unknown()).exactOptional(),
  /** Tokens of a request at most, by estimate. */
  contextTokens: count.min(1_000).exactOptional(),
  compaction: z.enum(['summary', 'drop']).exactOptional(),
  /** Characters of one tool's result that the model gets. */
  maxResultChars: count.exactOptional(),
  /** Answers of the model in one turn. */
  maxRounds: count.exactOptional(),
  images: z.boolean().exactOptional(),
  /** The thoughts of a turn go back to the model with its tool results. */
  returnReasoning: z.boolean().exactOptional(),
  /** Milliseconds that the server may be silent. */
  idleTimeoutMs: ms.exactOptional(),
  /** Bytes of one answer at most. */
  maxAnswerBytes: count.exactOptional(),
  attempts: count.exactOptional(),
  timeoutMs: z.union([ms, z.literal(false)]).exactOptional(),
  /** The servers of `mcpServers` whose tools it gets; all by default. */
  tools: z.array(z.string()).exactOptional(),
};

const agent = z.strictObject({
  id: z.string().regex(/^[\w.-]+$/, 'must be letters, digits, "_", "-" and "."'),
  model: z.string().min(1),
  systemPrompt: z.string().exactOptional(),
  ...common,
});

const limits = {
  /** The tools of it that agents get; all by default. */
  allow: z.array(z.string()).exactOptional(),
  startTimeoutMs: ms.default(30_000),
  callTimeoutMs: ms.default(60_000),
  /** Bytes of one message at most. */
  maxMessageBytes: count.default(8_388_608),
};

const mcpServer = z.union(
  [
    z.strictObject({
      command: z.string().min(1),
      args: z.array(z.string()).default([]),
      /** Beside PATH, HOME and the like, all of its environment. */
      env: z.record(z.string(), z.string()).default({}),
      cwd: z.string().exactOptional(),
      ...limits,
    }),
    z.strictObject({
      url: z.url({ protocol: /^https?$/, error: 'must be an http address' }),
      headers: z.record(z.string(), z.string()).default({}),
      ...limits,
    }),
  ],
  'must have "command" or "url", and no settings that it does not know',
);

/** One MCP server: a program, or an address. */
export type McpServerConfig = z.infer<typeof mcpServer>;

/** The settings of the extension; the README has the table. A key that is not here is refused. */
export const config = z
  .strictObject({
    agents: z.array(agent).default([]),
    /** The agents that `sluice run` or its config names: `MODEL` or `MODEL@URL`. */
    asked: z
      .array(
        z
          .string()
          .min(1)
          .refine((text) => {
            const address = addressIn(text);
            return address === undefined ? !/.@/.test(text) : url.safeParse(address).success; // else "MODEL@localhost" went to OpenAI
          }, 'must be MODEL or MODEL@URL, whose URL begins with http:// or https://'),
      )
      .default([]),
    mcpServers: z
      .record(z.string().regex(/^[a-z0-9-]{1,24}$/, 'must be a-z, 0-9 and "-"'), mcpServer)
      .default({}),
    ...common,
  })
  .superRefine(({ agents, tools, mcpServers }, check) => {
    const known = Object.keys(mcpServers);
    for (const name of [tools, ...agents.map((one) => one.tools)].flatMap((list) => list ?? []))
      if (!known.includes(name))
        check.addIssue({ code: 'custom', message: `tools: there is no MCP server "${name}"` });
  });

/** The settings of the extension as they were read. */
type OpenAiConfig = z.infer<typeof config>;

/** The settings of one agent, complete. */
export type AgentSettings = z.infer<typeof agent> &
  Required<Pick<z.infer<typeof agent>, keyof typeof usual>>;

/** The agents of the config, those that were asked for last. */
export function agentsOf({ agents, asked, mcpServers: _, ...top }: OpenAiConfig): AgentSettings[] {
  const named = asked.map((text) => {
    const at = addressIn(text);
    if (at === undefined) return { id: `openai:${text}`, model: text };
    return { id: `openai:${text}`, model: text.slice(0, -at.length - 1), url: url.parse(at) };
  });
  return [...agents, ...named].map((one) => ({ ...usual, ...top, ...one }));
}
